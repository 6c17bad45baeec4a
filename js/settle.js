// @ts-check
// After an action: wait until the document is quiet, and tell what the action did to it.

/**
 * `tabd.settle({budget_ms, quiet_frames?, keep?, again?, prefix,next,end})`: waits until nothing that the action set off has changed
 * the document for `quiet_frames` (2) animation frames, at most `budget_ms` (500). What was already changing before the
 * action, and what only animates (style, class, SVG geometry), is not waited for. Then the watch ends and leaves nothing
 * behind, unless `keep`: call again when the requests that the action started have ended. With `budget_ms` 0 it only tells
 * and ends. With `again`, where nothing has changed, it goes on as the next action's watch, without a `watch` of its own.
 *
 * -> `{changed, quiet, ms, hit?, clicked?, by?, focus?, value?, checked?, gone?, next}`
 * - `changed`: mutations, values, checkedness; `quiet`: false where the budget ran out first; `ms` spent here.
 * - `hit`: whether the press reached the element, absent where no press was seen in this frame; `clicked`: whether the click
 *   did. `hit:false` with `aim`'s guard: the page has not heard of the press; aim again. `by`: {ref,role,name} of what it met.
 * - `focus`: {ref,role,name} of what has the focus, only where that is not what had it before.
 * - `value`, `checked`: of the action's element, where it has one; `gone`: true where that is no longer in the page.
 * @param {{budget_ms?: number, quiet_frames?: number, keep?: boolean, again?: boolean} & Lease} args
 * @returns {Promise<object>}
 */
async function settle(args) {
  const began = performance.now(), end = began + (args.budget_ms ?? 500);
  const act = pulse.act;
  if (!act) return { changed: false, quiet: true, ms: 0, lost: true };
  flushPulse();
  let calm = 0;
  for (let busy = act.busy; calm < (args.quiet_frames ?? 2) && performance.now() < end && !act.over;) {
    await nextFrame();
    flushPulse();
    calm = busy === act.busy ? calm + 1 : 0;
    busy = act.busy;
  }
  const result = effectOf(act, args);
  if (pulse.act === act) {
    if (args.again && !result.changed) standBy(act);
    else if (!args.keep) endAct();
  }
  return { ...result, quiet: calm >= (args.quiet_frames ?? 2), ms: Math.round(performance.now() - began) };
}

/**
 * @param {Act} act
 * @param {Lease} lease
 * @returns {{changed: boolean} & Record<string, unknown>}
 */
function effectOf(act, lease) {
  const focus = focusedElement();
  const el = act.el && dom.isConnected(act.el) ? act.el : null;
  const press = act.press;
  return {
    changed: act.hasChanged(),
    hit: press?.hit,
    // The list of a select opens with the press, and takes the rest.
    clicked: press && el && !/^(select|option|optgroup)$/.test(htmlName(el)) ? act.clicked : undefined,
    by: press?.by && dom.isConnected(press.by) ? described(press.by, lease) : undefined,
    focus: focus && focus !== act.focus ? described(focus, lease) : undefined,
    value: el && editableKind(el) ? contentOf(el) : undefined,
    checked: el ? checkedOf(el) : undefined,
    gone: act.el && !el ? true : undefined,
  };
}

/**
 * Whether a checkbox, radio button or switch is on, native or not.
 * @param {Element} el
 * @returns {boolean | 'mixed' | undefined} undefined for what is none of these
 */
function checkedOf(el) {
  if (htmlName(el) === 'label') el = dom.labelControl(el) ?? el;
  if (htmlName(el) === 'input') {
    const type = dom.inputType(el);
    if (type === 'checkbox' || type === 'radio') return dom.indeterminate(el) ? 'mixed' : dom.checked(el);
  }
  const state = dom.attr(el, 'aria-checked')?.toLowerCase();
  return state === 'mixed' ? 'mixed' : state === 'true' ? true : state === 'false' ? false : undefined;
}
