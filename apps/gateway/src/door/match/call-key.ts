// Says by what a call is known where other calls may have its id.

/**
 * Ids that count up (`call_0`, `functions.read:7`) are given again, in the next reply or in another
 * conversation, and some servers give none. Then name and arguments belong to the key.
 */
export function callKeys(ids: readonly string[], forms: readonly string[]): string[] {
  if (ids.length === 0) return forms.map((form) => keyOf("", form));
  return ids.map((id, at) => {
    if (!isCounting(id)) return id;
    return keyOf(id, ids.length === forms.length ? forms[at]! : "");
  });
}

/** Of an answer whose call is not before it. */
export const strayKey = (id: string): string => (isCounting(id) ? keyOf(id, "") : id);

/** True: no other call has it, unless its server repeats itself. */
export const isSure = (key: string): boolean => !key.startsWith(UNSURE);

/** True: a server has given it an id. */
export const isNamed = (key: string): boolean => !key.startsWith(`${UNSURE} `);

/** The id of which the key was made. */
export const idIn = (key: string): string =>
  isSure(key) ? key : key.slice(UNSURE.length, key.lastIndexOf(" "));

/** The newest of `keys` that an older line of a journal tells by its id alone; else that id. */
export function keyOfOlder(id: string, keys: readonly string[]): string {
  if (!isSure(id) || !isCounting(id)) return id;
  return keys.findLast((key) => key.startsWith(`${UNSURE}${id} `)) ?? strayKey(id);
}

const UNSURE = "~ ";

const keyOf = (id: string, form: string) => `${UNSURE}${id} ${form}`;

/** Words, and a small number behind them; in names of tools there may be a digit, too. */
export function isCounting(id: string): boolean {
  const parts = id.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const last = parts.pop();
  return last !== undefined && NUMBERED.test(last) && parts.every((part) => WORD.test(part));
}

const NUMBERED = /^(?:[a-z]{0,12}|[A-Z]?[a-z]{0,11}|[A-Z]{1,12})\d{1,5}$/;
const WORD = /^(?:[A-Za-z]+\d{0,2}|\d{1,5}|[A-Za-z]\d[A-Za-z]{0,8})$/;
