// The title of the page, which can be of any length.
(limit, reach) => reach.cut(reach.dom.title(document), limit)
