// @ts-check
// `find`: the whole tree by role or name, beyond any cap.

/** How well a name answers a query. */
const EXACT = 0, PART = 1, WORDS = 2, NOTHING = 3;

/**
 * @param {ReadArgs & {query?: string | null, role?: string | null, exact?: boolean}} args
 * @returns {string | {error: string}}
 */
function find(args) {
  const started = performance.now();
  const root = rootOfArgs(args);
  if (!(root instanceof Element)) return root;
  const budget = args.budget_ms ?? Infinity;
  const view = walk(root, { full: args.full, capRefs: Infinity, capChars: Infinity, deadline: started + budget * 0.8 });
  if (!view.full) foldTexts(view);
  const query = args.query ? searchKey(args.query) : '';
  const words = query.split(' ').filter(Boolean);
  const role = args.role ? args.role.toLowerCase() : '';
  /** @type {Entry[][]} */
  const classes = [[], [], []];
  for (const entry of view.entries) {
    if (entry.dead || (role !== '' && entry.role !== role)) continue;
    const match = query === '' ? (role === '' ? NOTHING : EXACT) : matchOf(entry, query, words);
    if (match !== NOTHING && !(args.exact && match !== EXACT)) classes[match].push(entry);
  }
  const best = classes.findIndex((entries) => entries.length > 0);
  const keep = new Set(best < 0 ? [] : classes[best]);
  for (const entry of view.entries) if (!keep.has(entry)) entry.dead = true;
  const max = args.max ?? 200;
  const out = records({ ...view, full: true }, { ...args, interactive: false, since: null, snapshot: null, get next() { return args.next; }, set next(n) { args.next = n; } },
    { max, maxChars: args.max_chars ?? 200000, outline: args.format === 'outline', deadline: started + budget });
  return withHeader(out, view, { ...args, snapshot: null }, { class: best < 0 ? NOTHING : best });
}

/**
 * @param {Entry} entry @param {string} query @param {string[]} words
 * @returns {number}
 */
function matchOf(entry, query, words) {
  const name = searchKey(entry.text ?? nameOfFacts(entry.f));
  if (name === query || (entry.text === null && entry.role === query)) return EXACT;
  if (name === '') return NOTHING;
  if (name.includes(query)) return PART;
  return words.length > 1 && words.every((word) => name.includes(word)) ? WORDS : NOTHING;
}

/** Text as it is compared: clean, white space folded, without case. @param {string} text */
function searchKey(text) {
  return safeLine(text).replace(/\s+/g, ' ').trim().toLowerCase();
}
