// @ts-check
// aria-owns (ARIA 1.3 6.7): elements moved in the accessibility tree.

/** @typedef {object} Owns
 * @property {Map<Element, Element>} ownerOf
 * @property {Map<Element, Element[]>} ownedBy
 * @property {Set<Node>} roots trees already looked through
 */

/** The moves within the tree a node stands in, and those found before. Within a reading.
 * @param {Node} node @returns {Owns} */
function ownsAround(node) {
  return ownsIn(dom.rootOf(node));
}

/** @param {Facts} f @returns {Owns} */
function ownsOf(f) {
  return ownsIn(rootOfFacts(f));
}

/** @param {Node} root @returns {Owns} */
function ownsIn(root) {
  const r = reading();
  r.owns ??= { ownerOf: new Map(), ownedBy: new Map(), roots: new Set() };
  if (!r.owns.roots.has(root)) {
    r.owns.roots.add(root);
    for (const owner of dom.queryAll(root, '[aria-owns]')) addOwner(r.owns, owner);
  }
  return r.owns;
}

/** @param {Owns} owns @param {Element} owner */
function addOwner(owns, owner) {
  const f = factsOf(owner);
  // ARIA 1.3 6.7 aria-owns: MUST NOT resolve on an element excluded from the tree.
  if (factsHidden(f) || plainlyAriaHidden(f)) return;
  /** @type {Element[]} */
  const owned = [];
  for (const el of dom.refsOf(owner, 'aria-owns')) {
    // The first owner wins; nobody owns an ancestor; what is hidden from all stays where it is.
    if (owns.ownerOf.has(el) || isOwnAncestor(owns, el, owner) || factsHidden(factsOf(el))) continue;
    owns.ownerOf.set(el, owner);
    owned.push(el);
  }
  if (owned.length > 0) owns.ownedBy.set(owner, owned);
}

/** aria-hidden in the flat tree, before any move.
 * @param {Facts} f @returns {boolean} */
function plainlyAriaHidden(f) {
  for (let at = /** @type {Facts | null} */ (f); at; at = upOf(at)) {
    if (at.hasAria && ariaToken(at, 'aria-hidden') === 'true' && hidesItself(at)) return true;
  }
  return false;
}

/** Whether owning an element would close a circle. Chains too long to follow count as one.
 * @param {Owns} owns @param {Element} el @param {Element} owner @returns {boolean} */
function isOwnAncestor(owns, el, owner) {
  let at = /** @type {Element | null} */ (owner);
  for (let steps = 0; at && steps < 4096; steps++) {
    if (at === el) return true;
    at = owns.ownerOf.get(at) ?? upOf(factsOf(at))?.el ?? null;
  }
  return at !== null;
}

/** The parent in the accessibility tree: the owner, else the flat tree's.
 * @param {Facts} f @returns {Facts | null} */
function ariaUp(f) {
  const { ownerOf } = ownsOf(f);
  const owner = ownerOf.size > 0 ? ownerOf.get(f.el) : undefined;
  return owner ? factsOf(owner) : upOf(f);
}

/** The parent in the accessibility tree, ignored ones included.
 * @param {Element} el @returns {Element | null} */
function ariaParentOf(el) {
  return inReading(() => ariaUp(factsOf(el))?.el ?? null);
}

/** Children in the accessibility tree, elements and text, hidden or not: those
 * of the flat tree without what others own, then what this element owns.
 * @param {Element} el @returns {Node[]} */
function ariaChildrenOf(el) {
  return inReading(() => ariaChildren(factsOf(el)));
}

/** @param {Facts} f @returns {Node[]} */
function ariaChildren(f) {
  const children = f.plain ? plainChildren(f.el) : flatChildren(f.el);
  const owns = ownsOf(f);
  if (owns.ownerOf.size === 0) return children;
  const own = owns.ownedBy.get(f.el);
  const kept = children.filter((node) => !owns.ownerOf.has(/** @type {Element} */ (node)));
  return own ? kept.concat(own) : kept;
}
