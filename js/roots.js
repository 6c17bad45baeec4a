// @ts-check
// The trees of this document: itself, and every shadow root in it that can be seen into.

/** The trees as last looked for, and when. A root attached without any mutation is found when this grows old. */
const rootsFound = { at: -Infinity, generation: -1, /** @type {(Document | ShadowRoot)[]} */ roots: [] };

/**
 * The document and the shadow roots in it, open ones and adopted closed ones, outer before inner.
 * @returns {(Document | ShadowRoot)[]}
 */
function allRoots() {
  const now = performance.now();
  if (rootsFound.generation === pulse.generation && now - rootsFound.at < 1000) return rootsFound.roots;
  /** @type {(Document | ShadowRoot)[]} */
  const roots = [document];
  for (let i = 0; i < roots.length; i++) {
    for (const el of dom.queryAll(roots[i], '*')) {
      const shadow = shadowOf(el);
      if (shadow) roots.push(shadow);
    }
  }
  rootsFound.at = now;
  rootsFound.generation = pulse.generation;
  rootsFound.roots = roots;
  return roots;
}

/**
 * Where `a` stands to `b` in reading order through shadow roots, for sorting.
 * @param {Element} a
 * @param {Element} b
 * @returns {number}
 */
function byTreeOrder(a, b) {
  const above = ancestryOf(a), beside = ancestryOf(b);
  let i = 0;
  while (i < above.length && i < beside.length && above[i] === beside[i]) i++;
  if (i === above.length || i === beside.length) return above.length - beside.length;
  return dom.compare(above[i], beside[i]) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

/**
 * An element and the hosts around it, outermost first.
 * @param {Element} el
 * @returns {Element[]}
 */
function ancestryOf(el) {
  const chain = [el];
  for (let host = hostAbove(el); host; host = hostAbove(host)) chain.unshift(host);
  return chain;
}

/**
 * The host of the shadow tree a node is in.
 * @param {Node} node
 * @returns {Element | null}
 */
function hostAbove(node) {
  const root = dom.rootOf(node);
  return root instanceof ShadowRoot ? dom.hostOf(root) : null;
}

/**
 * The element above, from a shadow tree to its host. Unlike `flatParent` it does not go through slots.
 * @param {Element} el
 * @returns {Element | null}
 */
function elementAbove(el) {
  const parent = dom.parentOf(el);
  return parent && isElement(parent) ? parent : hostAbove(el);
}
