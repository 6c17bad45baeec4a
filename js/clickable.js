// @ts-check
// What can be acted on though its role does not say so: it listens to clicks, takes focus, or has the hand for a cursor.
//
// An isolated world cannot see the page's listeners. The daemon asks `DOMDebugger.getEventListeners` for them (one call
// for the whole document, `depth: -1, pierce: true`), keeps those of `CLICK_EVENTS`, and tells us by `adoptListeners`
// which elements began and ceased to listen since it last looked.

/** Event types that make an element clickable; the daemon filters by the same list. */
const CLICK_EVENTS = ['click', 'dblclick', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart', 'touchend'];

/** @type {WeakSet<Element>} */
const listening = new WeakSet();
/** @type {Map<number, WeakRef<Element>>} */
const listenerOf = new Map();

/** Roles one acts on by having them. @type {Set<string>} */
const ACTING_ROLES = new Set(['button', 'link', 'checkbox', 'radio', 'switch', 'textbox', 'searchbox', 'combobox', 'listbox', 'option', 'spinbutton', 'slider',
  'scrollbar', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'treeitem']);

/**
 * Takes over a change in what listens to clicks.
 * @param {number[]} ids backend node ids of `els`, which began to listen
 * @param {Element[]} els
 * @param {number[]} gone ids of elements that ceased to
 */
function adoptListeners(ids, els, gone) {
  for (const id of gone) {
    const el = listenerOf.get(id)?.deref();
    if (el) listening.delete(el);
    listenerOf.delete(id);
  }
  els.forEach((el, i) => {
    if (!(el instanceof Element)) return;
    listening.add(el);
    listenerOf.set(ids[i], new WeakRef(el));
  });
  return { listening: listenerOf.size };
}

/**
 * Whether an element itself listens to clicks. What the page as a whole listens to makes nothing clickable.
 * @param {Facts} f
 */
function listensToClicks(f) {
  if (f.tag === 'body' || f.tag === 'html') return false;
  return listening.has(f.el) || (!f.bare && dom.hasAttr(f.el, 'onclick'));
}
