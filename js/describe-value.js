// @ts-check
// Elements that scripts deal in: what a script gave back, and what it is to be given.

/**
 * `tabd.describe(node, lease)`, called with a remote object: how replies name an element of this document.
 *
 * -> `{ref, role, name, next}`; `{next}` for what has no ref here: other nodes, elements of another document.
 * @param {Node} node
 * @param {Lease} lease
 * @returns {object}
 */
function describeValue(node, lease) {
  return isElement(node) && dom.documentOf(node) === document ? describe(node, lease) : {};
}
