// @ts-check
// The last look before a press counts: at the very event, in the capture phase of the window, whether it reaches the
// element that was aimed at. If the page has moved in between, no listener of the page hears of it and nothing is activated.

const PRESS_EVENTS = ['pointerdown', 'mousedown', 'touchstart', 'pointerup', 'mouseup', 'touchend', 'click', 'auxclick', 'dblclick', 'contextmenu', 'dragstart'];
const PRESS_STARTS = new Set(['pointerdown', 'mousedown', 'touchstart']);

/**
 * @param {Act} act
 * @param {boolean} guarded whether a press that misses is kept from the page; else it is only noted
 */
function guardPress(act, guarded) {
  const onPress = (/** @type {Event} */ event) => {
    if (!event.isTrusted) return;
    if (!act.press) {
      // A person at the same window may press elsewhere: that is theirs.
      if (!PRESS_STARTS.has(event.type) || !isAtPoint(event, act.point)) return;
      const hit = pressed(event);
      // Where the element is in another frame, nothing is heard here of a press that gets there.
      const reached = hit !== null && act.el !== null && dom.isConnected(act.el) && reaches(hit, act.el) !== '';
      act.press = { hit: reached, by: reached ? null : hit };
    }
    if (act.press.hit) noteTear(act, event);
    if (act.press.hit || !guarded) {
      if (event.type === 'click' || event.type === 'auxclick' || event.type === 'contextmenu') {
        const hit = pressed(event);
        if (hit && act.el && reaches(hit, act.el)) act.clicked = true;
      }
      return;
    }
    event.stopImmediatePropagation();
    event.preventDefault();
  };
  for (const name of PRESS_EVENTS) addEventListener(name, onPress, { capture: true, passive: false });
  act.undo.push(() => { for (const name of PRESS_EVENTS) removeEventListener(name, onPress, true); });
}

/**
 * Notes a press whose release falls on something else by nobody's doing: a picture that is exchanged while it is pointed at.
 * @param {Act} act
 * @param {Event} event
 */
function noteTear(act, event) {
  if (event.type === 'mousedown') {
    flushPulse();
    act.changesAtPress = act.changes;
    act.torn = false;
  }
  if (event.type !== 'mouseup' || !act.el || htmlName(act.el) === 'select') return;
  flushPulse();
  const hit = pressed(event);
  act.torn = hit !== null && dom.isConnected(act.el) && reaches(hit, act.el) === '' && act.changes === act.changesAtPress;
}

/**
 * The innermost element of an event, into closed shadow roots that were adopted.
 * @param {Event} event
 * @returns {Element | null}
 */
function pressed(event) {
  const first = /** @type {Node | undefined} */ (event.composedPath()[0]);
  if (!first || !(first instanceof Node) || !isElement(first)) return null;
  const at = pointOf(event);
  return at ? innermostAt(first, at.x, at.y) : first;
}

/**
 * @param {Event} event
 * @returns {Point | null}
 */
function pointOf(event) {
  if (event instanceof MouseEvent) return { x: event.clientX, y: event.clientY };
  if (typeof TouchEvent === 'function' && event instanceof TouchEvent && event.changedTouches[0]) {
    return { x: event.changedTouches[0].clientX, y: event.changedTouches[0].clientY };
  }
  return null;
}

/**
 * @param {Event} event
 * @param {Point | null} point
 * @returns {boolean}
 */
function isAtPoint(event, point) {
  const at = pointOf(event);
  return at !== null && point !== null && Math.abs(at.x - point.x) <= 2 && Math.abs(at.y - point.y) <= 2;
}
