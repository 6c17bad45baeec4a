// @ts-check
// CSS counters (CSS Lists 3 4), for the rare page that puts them into text:
// computed over the whole document the first time one is asked for.

/** Values of all counters in scope at an element's pseudo-elements.
 * @typedef {Map<Element, Record<string, Map<string, number[]>>>} CounterValues */

/** Elements looked at in one pass. Past it counters are left out. */
const COUNTER_ELEMENTS = 20000;

/** @param {Facts} f @param {string} pseudo @param {string} args @param {boolean} all @returns {string} */
function counterText(f, pseudo, args, all) {
  const r = reading();
  r.counters ??= countersOf();
  const parts = args.match(/"(?:[^"\\]|\\.)*"|[^\s,]+/g) ?? [];
  const name = parts[0] ?? '';
  const values = r.counters.get(f.el)?.[pseudo]?.get(name) ?? [0];
  const style = parts[all ? 2 : 1] ?? 'decimal';
  if (!all) return counterStyled(values[values.length - 1], style);
  return values.map((value) => counterStyled(value, style)).join(unescaped((parts[1] ?? '""').slice(1, -1)));
}

/** One pass in tree order over the document's elements.
 * @returns {CounterValues} */
function countersOf() {
  /** @type {CounterValues} */
  const found = new Map();
  /** @type {Map<string, {value: number, level: number}[]>} */
  const scopes = new Map();
  /** @type {{el: Element, kids: Node[], next: number}[]} */
  const stack = [];
  let looked = 0;
  /** @param {Element} el @param {string} [pseudo] */
  const apply = (el, pseudo) => {
    const style = pseudo ? dom.styleOf(el, pseudo) : computedStyleOf(el);
    if (style.display === 'none') return;
    const level = stack.length + (pseudo ? 1 : 0);
    for (const [name, value] of counterPairs(style.counterReset, 0)) {
      const scope = scopes.get(name) ?? [];
      const last = scope[scope.length - 1];
      // A sibling's counter of the same level is replaced, an outer one nested.
      if (last && last.level === level) last.value = value;
      else scope.push({ value, level });
      scopes.set(name, scope);
    }
    for (const [name, by] of counterPairs(style.counterIncrement, 1)) counterNamed(scopes, name, level).value += by;
    for (const [name, value] of counterPairs(style.counterSet, 0)) counterNamed(scopes, name, level).value = value;
    if (!pseudo || !style.content.includes('counter')) return;
    const values = new Map([...scopes].map(([name, scope]) => [name, scope.map((each) => each.value)]));
    const record = found.get(el) ?? {};
    record[pseudo] = values;
    found.set(el, record);
  };
  /** @param {Element} el */
  const enter = (el) => {
    apply(el);
    if (styled(factsOf(el)).display === 'none') return;
    stack.push({ el, kids: flatChildren(el), next: 0 });
    apply(el, '::before');
  };
  const root = dom.rootElement(document);
  if (root) enter(root);
  while (stack.length > 0 && looked < COUNTER_ELEMENTS) {
    const frame = stack[stack.length - 1];
    if (frame.next < frame.kids.length) {
      const node = frame.kids[frame.next++];
      if (dom.nodeType(node) === 1) {
        looked++;
        enter(/** @type {Element} */ (node));
      }
      continue;
    }
    apply(frame.el, '::after');
    // Counters made within an element end with it.
    for (const scope of scopes.values()) while (scope.length > 0 && scope[scope.length - 1].level > stack.length) scope.pop();
    stack.pop();
  }
  return found;
}

/** @param {Map<string, {value: number, level: number}[]>} scopes @param {string} name @param {number} level */
function counterNamed(scopes, name, level) {
  const scope = scopes.get(name) ?? [];
  scopes.set(name, scope);
  if (scope.length === 0) scope.push({ value: 0, level });
  return scope[scope.length - 1];
}

/** `a 1 b 2` of counter-reset and its like.
 * @param {string} value @param {number} missing @returns {[string, number][]} */
function counterPairs(value, missing) {
  if (value === 'none' || value === '') return [];
  return [...value.matchAll(/([^\s\d-][^\s]*|--[^\s]+)(?:\s+(-?\d+))?/g)].map(([, name, number]) => [name, number === undefined ? missing : Number(number)]);
}

/** @param {number} value @param {string} style @returns {string} */
function counterStyled(value, style) {
  switch (style) {
    case 'none': case 'disc': case 'circle': case 'square':
      return style === 'disc' ? '•' : '';
    case 'decimal-leading-zero':
      return value >= 0 && value < 10 ? `0${value}` : String(value);
    case 'lower-alpha': case 'lower-latin': case 'upper-alpha': case 'upper-latin': {
      let text = '';
      for (let n = value; n > 0; n = Math.floor((n - 1) / 26)) text = String.fromCharCode(97 + ((n - 1) % 26)) + text;
      return text === '' ? String(value) : style.startsWith('upper') ? text.toUpperCase() : text;
    }
    case 'lower-roman': case 'upper-roman': {
      if (value < 1 || value > 3999) return String(value);
      let rest = value;
      let text = '';
      for (const [n, digit] of /** @type {[number, string][]} */ ([[1000, 'm'], [900, 'cm'], [500, 'd'], [400, 'cd'], [100, 'c'], [90, 'xc'], [50, 'l'], [40, 'xl'], [10, 'x'], [9, 'ix'], [5, 'v'], [4, 'iv'], [1, 'i']])) {
        while (rest >= n) {
          text += digit;
          rest -= n;
        }
      }
      return style === 'upper-roman' ? text.toUpperCase() : text;
    }
    default:
      return String(value);
  }
}
