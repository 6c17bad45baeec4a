// @ts-check
// The trees of this document: itself, and every shadow root in it that can be seen into.

/** How many added elements are kept to be looked through later; beyond it the whole document is. */
const MAX_ADDED = 500;

const rootsFound = {
  /** @type {Set<Document | ShadowRoot>} */
  roots: new Set(),
  /** Elements added since the last look. @type {Element[]} */
  added: [],
  /** When the whole document is to be looked through again: for roots that were attached to what was there already. */
  again: -Infinity,
};

/**
 * The document and the shadow roots in it, open ones and adopted closed ones, outer before inner. Looks through what was
 * added since the last time; through everything at times, less often where that takes long (15 ms for 20,000 elements).
 * @returns {(Document | ShadowRoot)[]}
 */
function allRoots() {
  const now = performance.now();
  // A frame's first, empty document may give its window, and with it this code, to the next one.
  if (now >= rootsFound.again || !rootsFound.roots.has(document)) {
    rootsFound.roots = new Set([document]);
    // A set's own iteration comes to what is added on the way.
    for (const root of rootsFound.roots) findRoots(dom.queryAll(root, '*'));
    const spent = performance.now() - now;
    rootsFound.again = now + Math.max(2000, 200 * spent);
  } else {
    const before = new Set(rootsFound.roots);
    for (const el of rootsFound.added) {
      findRoots([el]);
      findRoots(dom.queryAll(el, '*'));
    }
    for (const root of rootsFound.roots) {
      if (!dom.isConnected(root)) rootsFound.roots.delete(root);
      else if (!before.has(root)) findRoots(dom.queryAll(root, '*'));
    }
  }
  rootsFound.added = [];
  return Array.from(rootsFound.roots);
}

/** @param {Iterable<Element>} els */
function findRoots(els) {
  for (const el of els) {
    const shadow = shadowOf(el);
    if (shadow) rootsFound.roots.add(shadow);
  }
}

/**
 * Remembers what was added, for the next look.
 * @param {MutationRecord[]} records
 */
function noteAdded(records) {
  const added = rootsFound.added;
  if (rootsFound.again === -Infinity) return;
  for (const record of records) {
    for (let i = 0; i < record.addedNodes.length; i++) {
      const node = record.addedNodes[i];
      if (!isElement(node)) continue;
      if (added.length >= MAX_ADDED) {
        rootsFound.again = -Infinity;
        rootsFound.added = [];
        return;
      }
      added.push(node);
    }
  }
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
