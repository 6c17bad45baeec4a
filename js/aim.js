// @ts-check
// Before an action: the element is there, shown, enabled, at rest and on top, and this is the point to press.

/**
 * @typedef {Locator & {position?: {x: number, y: number} | null, force?: boolean, hover?: boolean, budget_ms: number}} AimArgs
 */

/**
 * `tabd.aim({ref|selector,nth, prefix,next,end, position?, force?, hover?, budget_ms})`: waits, up to `budget_ms`, until the
 * element can be acted on, scrolls it into view, and finds a point that belongs to it. Starts watching for the effects of
 * what comes next, and guards it: until `settle` a trusted press that would reach anything else is kept from the page
 * (not with `force` or `hover`). A page at rest is answered at once, any other after two animation frames.
 *
 * `selector` is waited for; `ref` is not. `position`: from the upper left corner of the element. `force`: no test of what
 * is on top, of being enabled or of standing still. `hover`: enabled or not.
 * -> `{x, y, target:{ref,role,name}, tag, type?, kind, multiple?, option_of?, view:[w,h], waited_ms, next}`: `x`,`y` and the
 * size of the viewport are CSS pixels of this frame; `tag` to `option_of` as of `locate` (an `input` of type `file` opens a
 * chooser). An option of a closed drop-down is `not_visible` with `data.select`.
 * Errors: `stale_ref not_found ambiguous bad_request not_visible disabled not_stable covered(data.by:{ref,role,name})`, the
 * last obstacle when the budget ran out.
 *
 * @param {AimArgs} args
 * @returns {Promise<object>}
 */
async function aim(args) {
  const began = performance.now(), end = began + args.budget_ms;
  const tries = { places: 0 };
  endAct();
  holdPulse();
  try {
    for (;;) {
      const outcome = await steady(args, end, tries);
      if (!isFailure(outcome)) {
        const { el, point } = outcome;
        startAct(el, point, !args.force && !args.hover);
        return { ...point, ...targetOf(el, args), view: [innerWidth, innerHeight], waited_ms: Math.round(performance.now() - began) };
      }
      const left = end - performance.now();
      if (left <= 0 || !isPassing(outcome)) return outcome;
      await nextChange(Math.min(left, 100));
    }
  } finally {
    releasePulse();
  }
}

/**
 * Whether time may help against a failure.
 * @param {Failure} found
 * @returns {boolean}
 */
function isPassing(found) {
  return found.error !== 'stale_ref' && found.error !== 'ambiguous' && found.error !== 'bad_request';
}

/**
 * One try: from the locator to a point, over as many frames as it takes the element to stand still.
 * @param {AimArgs} args
 * @param {number} end
 * @param {{places: number}} tries how many places the element has been scrolled to
 * @returns {Promise<{el: Element, point: Point} | Failure>}
 */
async function steady(args, end, tries) {
  // `place`: the element's boxes in the animation frame before, "" where there was none.
  let place = '', frames = 0, scrolled = false, looked = false;
  for (;;) {
    flushPulse();
    const el = elementFor(args);
    if (isFailure(el)) return el;
    const obstacle = obstacleOf(el, args);
    if (obstacle) return obstacle;
    if (!looked && !isInView(el, args.position)) scrolled = reveal(el, 0, args.position);
    looked = true;
    const now = placeOf(el);
    if (!args.force && now !== place && (frames > 0 || scrolled || !isAtRest(el))) {
      if (place !== '' && performance.now() >= end) {
        return failure('not_stable', `${wordsFor(described(el, args))} does not stop moving`, 'wait for it to come to rest, or use force');
      }
      place = frames > 0 ? now : '';
      await nextFrame();
      frames++;
      continue;
    }
    const spot = spotOf(el, args.position, args.force);
    if ('point' in spot) return { el, point: spot.point };
    if (!('by' in spot) || canScrollFrom(spot.by, el)) {
      let moved = false;
      while (!moved && tries.places < PLACES.length) moved = reveal(el, tries.places++, args.position);
      if (moved) {
        scrolled = true;
        place = '';
        continue;
      }
    }
    if ('by' in spot) return coverFailure(el, spot.by, args);
    return failure('not_visible', `${wordsFor(described(el, args))} is outside of the viewport, and scrolling does not bring it in`, 'open or scroll what holds it, then read again');
  }
}

/**
 * @param {Element} el
 * @param {Element} hit
 * @param {Lease} lease
 * @returns {Failure}
 */
function coverFailure(el, hit, lease) {
  const by = described(coverOf(hit, el), lease);
  return failure('covered', `${wordsFor(described(el, lease))} is covered by ${wordsFor(by)}`, 'close or scroll away what covers it, or use force', { by });
}

/** How long nothing may have moved for the page to be at rest: three frames. */
const REST_MS = 50;

/**
 * Whether nothing has happened of late that could be moving the element: no mutation, scroll or resize in the last three
 * frames, no animation. Then one look is as good as two.
 * @param {Element} el
 * @returns {boolean}
 */
function isAtRest(el) {
  if (pulse.loud || performance.now() - pulse.movedAt < REST_MS || control.readyState(document) !== 'complete') return false;
  for (let at = /** @type {Element | null} */ (el); at; at = flatParent(at)) {
    // SMIL and <marquee> are no animations the document tells of.
    if (!htmlName(at) || htmlName(at) === 'marquee') return false;
  }
  return !control.animationsOf(document).some((animation) => animation.playState === 'running') && !isAnimatedInShadow(el);
}

/**
 * Whether something around the element, in the shadow trees it is in, is being animated.
 * @param {Element} el
 * @returns {boolean}
 */
function isAnimatedInShadow(el) {
  for (let host = hostAbove(el), at = /** @type {Element} */ (el); host; at = host, host = hostAbove(host)) {
    const root = /** @type {ShadowRoot} */ (dom.rootOf(at));
    if (shadowAnimations(root).some((animation) => animation.playState === 'running')) return true;
  }
  return false;
}
const shadowAnimations = /** @type {(root: ShadowRoot) => Animation[]} */ (method(ShadowRoot.prototype, 'getAnimations'));

/** How long a box that is gone once the pointer is there may take to come back; then the element is looked for anew. */
const AWAY_MS = 300;

/**
 * `tabd.recheck({position?, budget_ms, prefix,next,end})`: after the pointer has moved to the point that `aim` gave: does it
 * still belong? What covers the element only now, or took its box away (a picture that changes when pointed at), is given
 * until `budget_ms` to pass.
 *
 * -> `{ok:true, x, y}`, or `{ok:false, x, y}` with the point where the element is now (move there and look again), or an
 * error as of `aim`.
 * @param {{position?: {x: number, y: number} | null, budget_ms?: number} & Lease} args
 * @returns {Promise<object>}
 */
async function recheck(args) {
  const began = performance.now(), end = began + (args.budget_ms ?? 0), act = pulse.act;
  for (;;) {
    const found = recheckNow(args, act);
    if (!isFailure(found) || !isPassing(found) || performance.now() >= end || act !== pulse.act) return found;
    if (found.error === 'not_visible' && performance.now() >= began + AWAY_MS) return found;
    await nextFrame();
  }
}

/**
 * @param {{position?: {x: number, y: number} | null} & Lease} args
 * @param {Act | null} act
 * @returns {object | Failure}
 */
function recheckNow(args, act) {
  const el = act?.el;
  if (!act?.point || !el || !dom.isConnected(el)) return failure('stale_ref', 'the element is no longer in the page', 'read again', { why: 'removed' });
  const hit = topAt(act.point.x, act.point.y);
  if (hit && reaches(hit, el)) return { ok: true, ...act.point };
  const spot = spotOf(el, args.position);
  if ('point' in spot) {
    act.point = spot.point;
    return { ok: false, ...spot.point };
  }
  return 'by' in spot ? coverFailure(el, spot.by, args) : failure('not_visible', `${wordsFor(described(el, args))} has moved out of the viewport`, 'read again');
}

/**
 * `tabd.hit({x, y, ref?|frame?, prefix,next,end})`: what is on top at a point of this frame's viewport.
 *
 * -> `{target:{ref,role,name}|null, frame:n|null, holds, next}`: `frame` is the number of the frame whose element is there;
 * `holds` whether a press there would reach `ref`, or falls into frame `frame`.
 * @param {{x: number, y: number, ref?: number, frame?: number} & Lease} args
 * @returns {object}
 */
function hit(args) {
  const top = topAt(args.x, args.y);
  const wanted = args.ref === undefined || args.ref === null ? undefined : elementOf(args.ref);
  const frame = top ? frameNumbers.get(top) ?? null : null;
  return {
    target: top ? described(top, args) : null,
    frame,
    holds: top !== null && (wanted ? reaches(top, wanted) !== '' : args.frame !== undefined && args.frame !== null && args.frame === frame),
  };
}
