// @ts-check
// Waiting for the page: a text, or an element in a state. Woken by changes, never by a clock.

/**
 * `tabd.wait({text | gone | (selector|ref, state), budget_ms, prefix,next,end})`: waits until the page's visible text holds
 * `text` or no longer `gone` (in any case, blank space counts as one space), or until the target is
 * `visible` (the default), `hidden`, `attached`, `detached` or `enabled`. Of several matches of a selector one is enough for
 * `visible attached enabled`, and none may be left for `hidden detached`.
 *
 * -> `{met:true, waited_ms, target?:{ref,role,name}, next}`, or `{met:false, waited_ms, last, next}` when the budget has run
 * out: `last` says what was there instead. Errors: `bad_request`; `stale_ref` for a ref that nothing can be waited for.
 * @param {Locator & {text?: string, gone?: string, state?: string, budget_ms: number}} args
 * @returns {Promise<object>}
 */
async function wait(args) {
  const began = performance.now(), end = began + args.budget_ms;
  for (;;) {
    const found = look(args);
    const waited_ms = Math.round(performance.now() - began);
    if (isFailure(found)) return found;
    if (found.met) return { met: true, waited_ms, target: found.el ? described(found.el, args) : undefined };
    const left = end - performance.now();
    if (left <= 0) return { met: false, waited_ms, last: found.last };
    // Animations change what is visible without a mutation; with none, only a change can end the waiting.
    await nextChange(left, control.animationsOf(document).some((a) => a.playState === 'running') ? 6 : undefined);
  }
}

/**
 * @param {Locator & {text?: string, gone?: string, state?: string}} args
 * @returns {{met: boolean, el?: Element, last?: string} | Failure}
 */
function look(args) {
  if (typeof args.text === 'string') return { met: holdsText(args.text), last: 'the text is not there' };
  if (typeof args.gone === 'string') return { met: !holdsText(args.gone), last: 'the text is still there' };
  const state = args.state ?? 'visible';
  const els = matchesOf(args);
  if (isFailure(els)) return els;
  switch (state) {
    case 'attached': return { met: els.length > 0, el: els[0], last: 'detached' };
    case 'detached': return { met: els.length === 0, last: 'attached' };
    case 'hidden': return { met: !els.some(isShown), last: 'visible' };
    case 'enabled': {
      const el = els.find((e) => isShown(e) && !isUnusable(e) && !isInert(e));
      return { met: el !== undefined, el, last: els.length === 0 ? 'detached' : els.some(isShown) ? 'disabled' : 'hidden' };
    }
    case 'visible': {
      const el = els.find(isShown);
      return { met: el !== undefined, el, last: els.length === 0 ? 'detached' : 'hidden' };
    }
    default: return failure('bad_request', `state ${inQuotes(state)} is none that can be waited for`, 'use visible, hidden, attached, detached or enabled');
  }
}

/**
 * @param {Locator & {state?: string}} args
 * @returns {Element[] | Failure}
 */
function matchesOf(args) {
  if (args.ref !== undefined && args.ref !== null) {
    const el = elementOf(args.ref);
    if (el) return [el];
    // What was taken out may be put back, and has its ref again then.
    return rememberedOf(args.ref) ? [] : staleRef(args.ref, args);
  }
  const found = selectAll(args.selector ?? '');
  if (!found) return failure('bad_request', `selector ${inQuotes(args.selector ?? '')} is not valid CSS`, 'check its brackets and quotes');
  if (args.nth === undefined || args.nth === null) return found;
  const el = found.at(args.nth);
  return el ? [el] : [];
}

/**
 * Whether the page's visible text, as `text` gives it, holds a text.
 * @param {string} wanted
 * @returns {boolean}
 */
function holdsText(wanted) {
  const needle = wanted.replace(/\s+/g, ' ').trim().toLowerCase();
  const roots = allRoots();
  if (roots.length === 1) {
    // What is not even in the text of the tree, hidden or not, need not be looked for in what shows of it.
    const all = dom.textContent(/** @type {Element} */ (rootElement(document))).replace(/\s+/g, '').toLowerCase();
    if (!all.includes(needle.replace(/ /g, ''))) return false;
  }
  return visibleText().replace(/\s+/g, ' ').toLowerCase().includes(needle);
}

/**
 * All that can be read in this document.
 * @returns {string}
 */
function visibleText() {
  return inReading(() => safeText(textOfElement(/** @type {Element} */ (rootElement(document)), false)));
}

/**
 * `tabd.nextChange({budget_ms, idle_frames?})` -> `{changed}`: the frame after the next change of the document, or after
 * `idle_frames` (6) animation frames without one: what a script's condition may have come true by.
 * @param {{budget_ms: number, idle_frames?: number}} args
 * @returns {Promise<object>}
 */
async function changeIn(args) {
  return { changed: await nextChange(args.budget_ms, args.idle_frames ?? 6) };
}
