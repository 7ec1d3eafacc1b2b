// What became of one entry from call to call.
import { fateOnScale } from "./call-scale.ts";
import type { EntryFate } from "./fates.ts";
import { AS_ESTIMATED, describeEntry } from "./list-entries.ts";
import { describeFate } from "./plan-diff.ts";
import type { SessionCalls } from "./session-calls.ts";
import type { CallRow } from "./shapes/calls.ts";
import type { EntryTrace } from "./shapes/entries.ts";

/** `name`: its id, or its number in the newest call, which one that left has not. */
export async function traceEntry(calls: SessionCalls, name: string): Promise<EntryTrace | null> {
  const newest = await calls.open(calls.rows.at(-1)?.id ?? "");
  const members = newest?.members() ?? [];
  const numbered = members.findIndex((_entry, index) => String(index + 1) === name);
  const ids = new Set(await calls.alike(members[numbered]?.id ?? name));
  const at = numbered >= 0 ? numbered : members.findIndex(({ id }) => ids.has(id));
  const left = at >= 0 ? undefined : (await calls.left()).find((each) => ids.has(each.entry.id));
  const entry = members[at] ?? left?.entry;
  if (entry === undefined) return null;
  const ranges: EntryTrace["ranges"] = [];
  let before = "";
  await calls.walk(({ row, fateOf }) => {
    const known = [...ids].map(fateOf).find((fate) => fate !== undefined);
    const key = JSON.stringify(known && [known.fate, known.marks]);
    const range = ranges.at(-1);
    if (known === undefined) before = "";
    else if (key === before && range !== undefined) {
      range.to = row.id;
      range.calls++;
    } else ranges.push(rangeOf(row, known));
    before = known === undefined ? "" : key;
  });
  const row = describeEntry(newest ?? AS_ESTIMATED, entry, at + 1);
  return {
    entry: { ...row, number: left === undefined ? row.number : null },
    ranges,
    left: left?.why ?? null,
  };
}

function rangeOf(row: CallRow, known: EntryFate): EntryTrace["ranges"][number] {
  const { id, startedAt, happened } = row;
  const fated = fateOnScale(row, known);
  return {
    ...{ from: id, to: id, calls: 1, fate: fated.fate },
    ...{ marks: [...fated.marks], why: describeFate(fated), at: startedAt, happened },
  };
}
