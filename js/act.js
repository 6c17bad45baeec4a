// @ts-check
// An action under way: what the page does because of it, and whether the press reached what it was meant for.

/** An action that nobody settles (a caller that has gone) ends by itself after this long. */
const ACT_LIFE_MS = 30000;
/** Form controls whose state is kept to compare; those beyond tell of changes through events only. */
const MAX_CONTROLS = 2000;
/** Attributes that change while something is only moving: never a reason to wait. */
const ANIMATED = new Set(['style', 'class', 'transform', 'd', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'cx', 'cy', 'r', 'rx', 'ry', 'points', 'viewBox', 'offset', 'fill', 'stroke']);
/** Events that tell of a change which makes no mutation. */
const STATE_EVENTS = ['input', 'change', 'toggle'];

/** The effects of one action, from `startAct` to `endAct`. */
class Act {
  /**
   * @param {Element | null} el
   * @param {Point | null} point
   */
  constructor(el, point) {
    this.el = el;
    this.point = point;
    this.startedAt = performance.now();
    this.over = false;
    this.changed = false;
    /** Changes so far that are worth waiting for. */
    this.busy = 0;
    this.focus = focusedElement();
    this.states = controlStates();
    /** What ongoing changes have added since: changes in there are theirs. @type {WeakSet<Node>} */
    this.brought = new WeakSet();
    /** What a press has met; null before one. @type {{hit: boolean, by: Element | null} | null} */
    this.press = null;
    this.clicked = false;
    /** The start of an HTML drag. @type {DragEvent | null} */
    this.dragStart = null;
    this.dropped = false;
    /** @type {(() => void)[]} */
    this.undo = [];
  }

  /**
   * @param {MutationRecord} record
   * @param {number} _now
   */
  noteChange(record, _now) {
    this.changed = true;
    if (record.type !== 'attributes' || !ANIMATED.has(record.attributeName ?? '')) this.busy++;
  }

  /**
   * Whether anything changed: mutations that did not go on before, or the state of a control.
   * @returns {boolean}
   */
  hasChanged() {
    if (!this.changed) {
      for (const [el, state] of this.states) {
        if (dom.isConnected(el) && controlState(el) !== state) { this.changed = true; break; }
      }
    }
    return this.changed;
  }
}

/**
 * Begins an action; one before it is over.
 * @param {Element | null} el what the action is for
 * @param {Point | null} point where a press is meant to go
 * @param {boolean} guarded keep a press from the page that would reach something else
 */
function startAct(el, point, guarded) {
  endAct();
  flushPulse();
  holdPulse();
  const act = new Act(el, point);
  pulse.act = act;
  const changed = () => { act.changed = true; };
  for (const name of STATE_EVENTS) addEventListener(name, changed, { capture: true, passive: true });
  act.undo.push(() => { for (const name of STATE_EVENTS) removeEventListener(name, changed, true); });
  if (point) guardPress(act, guarded);
  noteDrags(act);
  const look = () => {
    const left = act.startedAt + ACT_LIFE_MS - performance.now();
    if (left > 0) timer = setTimeout(look, left);
    else endAct();
  };
  let timer = setTimeout(look, ACT_LIFE_MS);
  act.undo.push(() => clearTimeout(timer), releasePulse);
}

/**
 * Lets an action that nothing came of be the next one as well: a script after a script needs no word in between.
 * @param {Act} act
 */
function standBy(act) {
  act.startedAt = performance.now();
  act.focus = focusedElement();
}

/** Ends the action under way, with all its listeners. */
function endAct() {
  const act = pulse.act;
  if (!act) return;
  flushPulse();
  act.over = true;
  pulse.act = null;
  for (const undo of act.undo) undo();
}

/** @returns {Map<Element, string>} */
function controlStates() {
  const states = new Map();
  for (const root of allRoots()) {
    for (const el of dom.queryAll(root, 'input, select, textarea')) {
      if (states.size >= MAX_CONTROLS) return states;
      const state = controlState(el);
      if (state !== undefined) states.set(el, state);
    }
  }
  return states;
}

/**
 * `tabd.watch({x?, y?, frame?, prefix,next,end})`: begins an action that has no target of its own: a key, a script, a press at
 * a point. With `x`,`y` it tells what is on top there, as `hit` does. With `frame` it is for the frame that holds the target's:
 * `holds` says whether frame `frame` is on top at the point, and a press that this document gets there nevertheless is kept
 * from the page, as by `aim` (`settle` then says `hit:false`).
 *
 * -> `{target, frame, holds, next}` (nulls without a point).
 * @param {{x?: number, y?: number, frame?: number | null} & Lease} args
 * @returns {object}
 */
function watch(args) {
  const point = typeof args.x === 'number' && typeof args.y === 'number' ? { x: args.x, y: args.y } : null;
  const top = point && topAt(point.x, point.y);
  const frame = top ? frameNumbers.get(top) ?? null : null;
  const through = typeof args.frame === 'number';
  startAct(through ? null : top, through ? point : null, through);
  return { target: top ? described(top, args) : null, frame, holds: through && frame === args.frame };
}
