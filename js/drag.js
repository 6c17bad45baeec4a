// @ts-check
// Whether a drag of the platform's own has begun, which from then on gets drag events instead of mouse events.

const drag = { began: false, over: () => {} };

/** `tabd.watchDrag({prefix,next,end})`: notes, from now on, whether the page lets a drag begin. -> `{next}` */
function watchDrag() {
  drag.over();
  drag.began = false;
  // In the bubbling phase at the window: what the page's own listeners say of it has been said by then.
  const noted = (/** @type {Event} */ event) => { drag.began = event.isTrusted && !isPrevented(event); };
  addEventListener('dragstart', noted);
  drag.over = () => { removeEventListener('dragstart', noted); drag.over = () => {}; };
  return {};
}
const isPrevented = /** @type {(event: Event) => boolean} */ (getter(Event.prototype, 'defaultPrevented'));

/** `tabd.dragBegan({prefix,next,end})` -> `{began, next}` since `watchDrag`; the watch ends with it. */
function dragBegan() {
  drag.over();
  return { began: drag.began };
}
