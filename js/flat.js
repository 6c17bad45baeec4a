// @ts-check
// The flat tree (CSS Scoping 3.4): shadow trees in place of their hosts'
// children, slotted nodes in place of their slots' own.

/** The shadow root that an element hosts: open, or closed and adopted.
 * @param {Element} el @returns {ShadowRoot | null} */
function shadowOf(el) {
  return dom.openRoot(el) ?? closedRoots.get(el) ?? null;
}

/** The slot a closed root's host's child is in: the page's `assignedSlot` hides it.
 * @param {Node} node @param {ShadowRoot} root @returns {Element | null} */
function closedSlotOf(node, root) {
  const known = currentReading?.slots.get(root);
  const slots = known ?? slotsOf(root);
  if (!known) currentReading?.slots.set(root, slots);
  return slots.get(node) ?? null;
}

/** @param {ShadowRoot} root @returns {Map<Node, Element>} the slot of each node assigned in a tree */
function slotsOf(root) {
  /** @type {Map<Node, Element>} */
  const slots = new Map();
  for (const slot of dom.queryAll(root, 'slot')) {
    for (const node of dom.assignedNodes(/** @type {HTMLSlotElement} */ (slot))) slots.set(node, slot);
  }
  return slots;
}

/** The parent element in the flat tree; null at the top and for a node that
 * is in no slot of its parent's shadow tree.
 * @param {Node} node @returns {Element | null} */
function flatParent(node) {
  const parent = dom.parentOf(node);
  if (parent === null) return null;
  if (parent instanceof Element) {
    if (dom.openRoot(parent)) return dom.slotOf(node);
    const closed = closedRoots.get(parent);
    if (closed) return closedSlotOf(node, closed);
    // A slot's own children stand only while nothing is assigned to it.
    if (parent instanceof HTMLSlotElement && dom.assignedNodes(parent).length > 0) return null;
    return parent;
  }
  return parent instanceof ShadowRoot ? dom.hostOf(parent) : null;
}

/** Children in the flat tree, elements and text, in order.
 * @param {Element} el @returns {Node[]} */
function flatChildren(el) {
  /** @type {Node} */
  let from = el;
  const root = shadowOf(el);
  if (root) from = root;
  else if (el instanceof HTMLSlotElement) {
    const assigned = dom.assignedNodes(el);
    if (assigned.length > 0) return assigned;
  }
  return plainChildren(from);
}

/** Children in the DOM that are elements or text.
 * @param {Node} from @returns {Node[]} */
function plainChildren(from) {
  /** @type {Node[]} */
  const list = [];
  for (let node = dom.firstChild(from); node; node = dom.nextSibling(node)) {
    const type = dom.nodeType(node);
    if (type === 1 || type === 3 || type === 4) list.push(node);
  }
  return list;
}

/** Whether an element is, or is in the flat tree below, another.
 * @param {Element} inner @param {Element} outer @returns {boolean} */
function isFlatInside(inner, outer) {
  for (let el = /** @type {Element | null} */ (inner); el; el = flatParent(el)) if (el === outer) return true;
  return false;
}

/** The element that has the focus, within shadow trees too; null if it is the
 * page as a whole.
 * @returns {Element | null} */
function focusedElement() {
  let el = dom.activeElement(document);
  if (!el || el === dom.rootElement(document) || dom.localName(el) === 'body') return null;
  for (;;) {
    const root = shadowOf(el);
    const inner = root ? dom.activeElement(root) : null;
    if (!inner) return el;
    el = inner;
  }
}
