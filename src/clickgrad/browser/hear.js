// Elements that listen to clicks, to dragging or to what is dropped on them, found from outside: {nodes, counts}, first those
// for clicks, and so on, so many of each. They are kept for as long as they are in the page.
({ nodes, counts }, reach, kept) => {
  let at = 0;
  for (const [name, count] of Object.entries(counts)) {
    for (const node of nodes.slice(at, at + count)) if (reach.dom.nodeType(node) === 1 && !reach.isRoot(node)) kept[name].add(node);
    at += count;
  }
}
