// @ts-check
// The role of an element, computed (Core-AAM 1.2 5.4).

/** Roles whose children are part of them (ARIA 1.3 5.2.8, "Children
 * Presentational"). Chromium keeps the subtree when it is more than text.
 * @type {Set<string>} */
const LEAF_ROLES = new Set(['button', 'checkbox', 'img', 'menuitemcheckbox', 'menuitemradio', 'meter', 'option', 'progressbar',
  'radio', 'scrollbar', 'separator', 'slider', 'switch', 'tab', 'graphics-symbol']);

/** What a role=none list or table takes its children's roles from (ARIA 1.3
 * 5.4 none: "required owned elements").
 * @type {Record<string, string[]>} */
const NONE_INHERITS = {
  __proto__: /** @type {any} */ (null),
  li: ['ul', 'ol', 'menu', 'dir'],
  dt: ['dl'], dd: ['dl'],
  tbody: ['table'], thead: ['table'], tfoot: ['table'],
};

/** The role in the words of ARIA (`img`, `none`), or one of Chromium's where
 * ARIA has none (`canvas`, `iframe`, `video`, `audio`); `generic` if the
 * element has no meaning of its own, `none` if the author took it away.
 * @param {Element} el @returns {string} */
function roleOf(el) {
  return inReading(() => roleOfFacts(factsOf(el)));
}

/** Whether a role's descendants are presentational by ARIA. They are read all
 * the same if they can be acted on.
 * @param {string} role @returns {boolean} */
function hasPresentationalChildren(role) {
  return LEAF_ROLES.has(role);
}

/** Roles that wait for other roles, one within another. Past it the element's
 * own kind decides, so that no page can exhaust the stack. */
const MAX_NESTED_ROLES = 100;
let nestedRoles = 0;

/** @param {Facts} f @returns {string} */
function roleOfFacts(f) {
  if (f.role !== undefined) return f.role;
  const provisional = nativeRole0(f);
  if (nestedRoles >= MAX_NESTED_ROLES) return provisional;
  f.role = provisional;
  nestedRoles++;
  try {
    f.role = computeRole(f);
  } finally {
    nestedRoles--;
  }
  return f.role;
}

/** A value while the role is being computed, should it depend on itself.
 * @param {Facts} f @returns {string} */
function nativeRole0(f) {
  return TAG_ROLES[f.tag] ?? 'generic';
}

/** @param {Facts} f @returns {string} */
function computeRole(f) {
  if (f.hasRole) {
    const role = explicitRole(f);
    if (role === 'none') {
      const least = minimumRole(f, 'generic');
      return least === 'group' ? 'group' : 'none';
    }
    // `generic` is no more than having no role; the minimum role still holds.
    if (role === 'generic') return minimumRole(f, role);
    if (role !== '') return role;
  }
  if (losesRole(f)) return 'none';
  return nativeRole(f);
}

/** Whether a presentational parent makes a required owned child presentational.
 * @param {Facts} f @returns {boolean} */
function losesRole(f) {
  const owners = NONE_INHERITS[f.tag];
  if (!owners) return false;
  const parent = upOf(f);
  return parent !== null && parent.hasRole && owners.includes(parent.tag) && roleOfFacts(parent) === 'none';
}
