// Which stored messages a host keeps from the model, told once each.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { messageId } from "@clew/plugin-sdk/core";
import type { PolicyChange } from "@clew/plugin-sdk/host";
import type { WithheldEntry } from "../report/model-call.ts";
import type { ViewItem } from "./view-item.ts";

/** What is withheld now, by entry, and the entries that a report has told of. */
export interface WithheldMemory {
  now: readonly WithheldEntry[];
  readonly told: Set<string>;
}

export const emptyWithheld = (): WithheldMemory => ({ now: [], told: new Set() });

/** Stored messages of `before` that are not in `after`, nor merged into one of it. */
export function withheldBetween(
  before: readonly ViewItem[],
  after: readonly AgentMessage[],
  { by, why }: Pick<WithheldEntry, "by" | "why">,
): WithheldEntry[] {
  const left = new Set<unknown>(after.map((message) => messageId(message) ?? message));
  for (const { __openclaw } of after) for (const id of __openclaw?.merged ?? []) left.add(id);
  return before.flatMap(({ id, message, why: { source } }) =>
    source.kind === "entry" && !left.has(id) && !left.has(message)
      ? [{ entryId: source.entryId, by, why }]
      : [],
  );
}

/** What a policy says of the messages it left out; it does not say of which. */
export function whyDropped(changes: readonly PolicyChange[]): string {
  const reasons = changes.flatMap(({ action, rule, reason }) =>
    action === "dropped" ? [`${reason} (${rule})`] : [],
  );
  const words = [...new Set(reasons)];
  return words.length === 0 ? "the provider's rules left no place for it" : words.join("; or ");
}

/** What is to be reported of a call; what was sent again will be told again. */
export function tellWithheld(
  memory: WithheldMemory,
  sent: ReadonlySet<string>,
  more: readonly WithheldEntry[],
): WithheldEntry[] {
  for (const id of sent) memory.told.delete(id);
  const fresh = [...memory.now, ...more].filter(
    ({ entryId }) => !sent.has(entryId) && !memory.told.has(entryId),
  );
  for (const { entryId } of fresh) memory.told.add(entryId);
  return fresh;
}
