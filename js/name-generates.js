// @ts-check
// Which elements may have generated content. Asking the browser for a
// pseudo-element costs a style resolution each, most of a name's time; a look
// at the style sheets' selectors tells nearly all elements that have none.

/** Keys of the last compound of every selector that generates content, as a
 * browser's own rule hash has them. More elements fit than truly match.
 * @typedef {object} Generators
 * @property {boolean} any some selector has no key, or a sheet cannot be read
 * @property {Set<string>} keys `.class`, `#id` and tag names */

/** What a sheet's rules gave, while they are the same rules.
 * @type {WeakMap<CSSStyleSheet, {rules: number, first: CSSRule | undefined, generators: Generators}>} */
const sheetGenerators = new WeakMap();

/** Rules looked at in one sheet; a bigger one counts as unreadable. */
const SHEET_RULES = 20000;

/** @param {Facts} f @returns {boolean} false if no rule gives it generated content */
function mayGenerate(f) {
  if (f.tag === 'q') return true;
  // Rules of shadow trees reach in and out by ::slotted and ::part.
  if (rootOfFacts(f) !== document || !f.plain) return true;
  const r = reading();
  r.generators ??= documentGenerators();
  const { any, keys } = r.generators;
  if (any) return true;
  if (keys.size === 0) return false;
  if (keys.has(f.tag)) return true;
  if (f.bare) return false;
  const id = dom.attr(f.el, 'id');
  if (id !== null && keys.has(`#${id}`)) return true;
  const names = dom.attr(f.el, 'class');
  if (names === null) return false;
  for (const name of names.split(/[\t\n\f\r ]+/)) if (keys.has(`.${name}`)) return true;
  return false;
}

/** @returns {Generators} */
function documentGenerators() {
  /** @type {Generators} */
  const all = { any: document.compatMode !== 'CSS1Compat', keys: new Set() };
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
    const { any, keys } = generatorsOf(sheet);
    all.any ||= any;
    for (const key of keys) all.keys.add(key);
  }
  return all;
}

/** @param {CSSStyleSheet} sheet @returns {Generators} */
function generatorsOf(sheet) {
  /** @type {CSSRuleList} */
  let rules;
  try {
    rules = sheet.cssRules;
  } catch {
    // Of another origin: its rules are not shown to scripts.
    return { any: true, keys: new Set() };
  }
  const known = sheetGenerators.get(sheet);
  if (known && known.rules === rules.length && known.first === rules[0]) return known.generators;
  /** @type {Generators} */
  const generators = { any: false, keys: new Set() };
  let left = SHEET_RULES;
  /** @type {CSSRuleList[]} */
  const lists = [rules];
  for (let list = lists.pop(); list && !generators.any; list = lists.pop()) {
    for (const rule of list) {
      if (left-- <= 0) {
        generators.any = true;
        break;
      }
      if (rule instanceof CSSStyleRule) addGenerator(rule, generators);
      if (rule instanceof CSSImportRule && rule.styleSheet) {
        const imported = generatorsOf(rule.styleSheet);
        generators.any ||= imported.any;
        for (const key of imported.keys) generators.keys.add(key);
      }
      const inner = /** @type {any} */ (rule).cssRules;
      if (inner && inner.length > 0) lists.push(inner);
    }
  }
  sheetGenerators.set(sheet, { rules: rules.length, first: rules[0], generators });
  return generators;
}

/** @param {CSSStyleRule} rule @param {Generators} generators */
function addGenerator(rule, generators) {
  const selectors = rule.selectorText;
  if (!/:(before|after)/i.test(selectors)) {
    // A nested rule of bare declarations has its parent's selector, and none of its own.
    return;
  }
  const content = rule.style.content;
  const nested = /** @type {any} */ (rule).cssRules?.length > 0;
  // An empty string is there for its box.
  if (!nested && (content === '' || content === 'none' || content === 'normal' || content === '""')) return;
  for (const selector of splitSelectors(selectors)) {
    if (!/:(before|after)/i.test(selector)) continue;
    const key = selectorKey(selector);
    if (key === '') generators.any = true;
    else generators.keys.add(key);
  }
}

/** A selector list at its outer commas.
 * @param {string} list @returns {string[]} */
function splitSelectors(list) {
  const parts = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i < list.length; i++) {
    const char = list[i];
    if (char === '\\') i++;
    else if (char === '(' || char === '[') depth++;
    else if (char === ')' || char === ']') depth--;
    else if (char === ',' && depth === 0) {
      parts.push(list.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(list.slice(from));
  return parts;
}

/** A class, id or tag that the selector's subject must have; '' if none is plain.
 * @param {string} selector @returns {string} */
function selectorKey(selector) {
  // `[]` and `()` may hold anything: without them what is left are compounds.
  let flat = selector;
  for (let i = 0; i < 8 && /[([]/.test(flat); i++) flat = flat.replace(/:[\w-]+\([^()[\]]*\)|\[[^()[\]]*\]/g, '');
  if (/[([\\&|]/.test(flat)) return '';
  const compound = flat.trim().split(/[\s>+~]+/).pop() ?? '';
  const subject = compound.split(/::?(?:before|after)/i)[0];
  const key = /[.#][^.#:]+/.exec(subject)?.[0];
  if (key) return key;
  return /^[a-z][a-z0-9-]*/i.exec(subject)?.[0].toLowerCase() ?? '';
}
