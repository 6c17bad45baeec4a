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
  /** @type {Set<Entry>[]} */
  const classes = [new Set(), new Set(), new Set()];
  for (const entry of view.entries) {
    if (entry.dead || (role !== '' && entry.role !== role)) continue;
    const match = query === '' ? (role === '' ? NOTHING : EXACT) : matchOf(entry, query, words);
    if (match !== NOTHING && !(args.exact && match !== EXACT)) classes[match].add(entry);
  }
  const best = classes.findIndex((entries) => entries.size > 0);
  args.snapshot = args.since = null;
  args.interactive = false;
  const out = records(view, args, {
    max: args.max ?? 200, maxChars: args.max_chars ?? 200000, outline: args.format === 'outline', deadline: started + budget,
    only: best < 0 ? new Set() : classes[best],
  });
  return withHeader(out, view, args, { class: best < 0 ? NOTHING : best });
}

/**
 * @param {Entry} entry @param {string} query @param {string[]} words
 * @returns {number}
 */
function matchOf(entry, query, words) {
  const name = searchKey(entry.text ?? nameOfFacts(entry.f));
  if (name === query) return EXACT;
  if (name.includes(query) || (entry.text === null && entry.role === query)) return PART;
  if (words.length < 2) return NOTHING;
  const all = entry.text === null ? `${name} ${entry.role}` : name;
  return words.every((word) => all.includes(word)) ? WORDS : NOTHING;
}

/** Text as it is compared: clean, white space folded, without case. @param {string} text */
function searchKey(text) {
  return safeLine(text).replace(/\s+/g, ' ').trim().toLowerCase();
}
