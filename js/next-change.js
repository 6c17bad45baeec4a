// @ts-check
// Time in the page: animation frames, and the next change of any kind. No polling: a timer is only ever the end of patience.

/** How long a frame may take before the page is taken for one that is not drawn (throttled frames, hidden tabs). */
const FRAME_PATIENCE_MS = 100;

/**
 * The next animation frame, or 100 ms where the page gets none.
 * @returns {Promise<number>} the time
 */
function nextFrame() {
  return new Promise((resolve) => {
    const done = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
      resolve(performance.now());
    };
    const timer = setTimeout(done, FRAME_PATIENCE_MS);
    const frame = requestAnimationFrame(done);
  });
}

/** What can make an element visible, enabled or uncovered without a mutation. */
const CHANGE_EVENTS = ['input', 'change', 'toggle', 'transitionend', 'animationstart', 'animationend', 'load', 'scroll', 'focusin',
  'resize', 'hashchange', 'popstate', 'slotchange', 'DOMContentLoaded'];

/**
 * The frame after the next change of the document: a mutation, an event that comes with a change of state or layout, or,
 * where `idle_frames` is given, that many animation frames without any.
 * @param {number} budget_ms
 * @param {number} [idle_frames]
 * @returns {Promise<boolean>} whether something changed
 */
async function nextChange(budget_ms, idle_frames) {
  holdPulse();
  const patience = Math.max(0, budget_ms);
  const changed = await new Promise((resolve) => {
    let frames = 0, frame = 0;
    const done = (/** @type {boolean} */ value) => {
      pulse.listeners.delete(hit);
      for (const name of CHANGE_EVENTS) removeEventListener(name, hit, true);
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      resolve(value);
    };
    const hit = () => done(true);
    const timer = setTimeout(() => done(false), patience);
    pulse.listeners.add(hit);
    for (const name of CHANGE_EVENTS) addEventListener(name, hit, { capture: true, passive: true });
    const count = () => { if (++frames >= /** @type {number} */ (idle_frames)) done(false); else frame = requestAnimationFrame(count); };
    if (idle_frames) frame = requestAnimationFrame(count);
  });
  releasePulse();
  if (changed && patience > 0) await nextFrame();
  return changed;
}
