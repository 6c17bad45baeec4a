// @ts-check
// Options of a `select`: chosen here, for its list is drawn by the browser outside of the page, where no press gets to.

/**
 * `tabd.choose({ref|selector,nth, prefix,next,end, values:[...], budget_ms})`: waits until the select is shown and enabled,
 * chooses exactly the options whose label, else value, is given, fires `input` and `change`, and watches for effects.
 *
 * -> `{selected:[labels], target, tag, multiple, next}`. Errors: as of `aim` without `covered not_stable`; `not_editable` for
 * what is no select, `not_found` (`data.options`) for a value that no option has, `disabled` for a disabled option,
 * `bad_request` for several values where one can be chosen. Nothing is changed then.
 * @param {Locator & {values: string[], budget_ms: number}} args
 * @returns {Promise<object>}
 */
async function choose(args) {
  const end = performance.now() + args.budget_ms;
  endAct();
  for (;;) {
    const outcome = chooseNow(args);
    const left = end - performance.now();
    if (!isFailure(outcome) || left <= 0 || !isPassing(outcome) || outcome.error === 'not_editable') return outcome;
    await nextChange(Math.min(left, 250));
  }
}

/**
 * @param {Locator & {values: string[]}} args
 * @returns {object}
 */
function chooseNow(args) {
  let el = elementFor(args);
  if (isFailure(el)) return el;
  if (htmlName(el) === 'label') el = dom.labelControl(el) ?? el;
  if (htmlName(el) === 'option') el = selectOf(el) ?? el;
  if (htmlName(el) !== 'select') return failure('not_editable', `${wordsFor(described(el, args))} is not a select element`, 'click it, then click the option it shows');
  const obstacle = obstacleOf(el, args);
  if (obstacle) return obstacle;
  const multiple = control.isMultiple(el);
  if (!multiple && args.values.length !== 1) {
    return failure('bad_request', `${wordsFor(described(el, args))} takes one value, not ${args.values.length}`, 'give one value');
  }
  const options = Array.from(control.optionsOf(el));
  const wanted = new Set();
  for (const value of args.values) {
    const option = optionFor(options, value);
    if (!option) {
      const labels = options.slice(0, 50).map(labelOf);
      return failure('not_found', `${wordsFor(described(el, args))} has no option ${inQuotes(value)}`, 'use one of data.options', { options: labels, count: options.length });
    }
    if (isDisabledOption(option)) return failure('disabled', `option ${inQuotes(labelOf(option))} of ${wordsFor(described(el, args))} is disabled`, 'choose another one');
    wanted.add(option);
  }
  if (!isInView(el)) reveal(el, 0);
  focusOn(el, { preventScroll: true });
  startAct(el, null, false);
  const changes = options.filter((option) => dom.optionSelected(option) !== wanted.has(option));
  for (const option of changes) if (multiple || wanted.has(option)) control.setSelected(option, wanted.has(option));
  if (changes.length) {
    dispatch(el, new Event('input', { bubbles: true, composed: true }));
    dispatch(el, new Event('change', { bubbles: true }));
  }
  return { selected: options.filter((option) => dom.optionSelected(option)).map(labelOf), ...targetOf(el, args) };
}

/**
 * The option a label or a value means: labels first, as a person reads them; among equals one that can be chosen.
 * @param {Element[]} options
 * @param {string} value
 * @returns {Element | undefined}
 */
function optionFor(options, value) {
  const flat = value.replace(/\s+/g, ' ').trim();
  const byLabel = options.filter((option) => labelOf(option) === flat);
  const byValue = options.filter((option) => dom.value(option) === value);
  return [...byLabel, ...byValue].find((option) => !isDisabledOption(option)) ?? byLabel[0] ?? byValue[0];
}

/**
 * @param {Element} option
 * @returns {string}
 */
function labelOf(option) {
  return dom.optionLabel(option).replace(/\s+/g, ' ').trim();
}
