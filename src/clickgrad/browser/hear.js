// Elements that listen to clicks or to dragging, found from outside: {nodes, clicks}, of which the first `clicks` are for
// clicks. They are kept for as long as they are in the page.
({ nodes, clicks }, reach, kept) => {
  nodes.forEach((node, at) => {
    if (reach.dom.nodeType(node) === 1 && !reach.isRoot(node)) (at < clicks ? kept.heard : kept.dragged).add(node);
  });
}
