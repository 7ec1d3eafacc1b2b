// In which order the parts of a turn come.
import type { TaskName, TurnSetup } from "./turn.ts";

/** From the stored history to the model's answer. */
export const TO_THE_MODEL: readonly TaskName[] = ["read", "assemble", "hooks", "compose", "call"];

/** Between a reply that asks for tools and the next call. */
export const TO_THE_NEXT_CALL: readonly TaskName[] = [
  "tools",
  "auto-compact",
  "deliver-in-loop",
  "assemble-again",
  "compose",
  "call",
];

/** After the reply, which stands whatever happens now. */
export const AFTER_THE_REPLY: readonly TaskName[] = ["deliver", "maintain-turn", "auto-compact"];

/**
 * The order of a turn (contract §3.1). An engine of the durable lifecycle must have every earlier
 * turn before it reads the transcript; one of the eager lifecycle may find them there.
 */
export function planTurn({
  purpose,
  lifecycle,
}: Pick<TurnSetup, "purpose" | "lifecycle">): readonly TaskName[] {
  if (purpose === "preview") return ["settle", "bootstrap", "admit", ...TO_THE_MODEL];
  if (purpose === "compaction") return ["settle", "compact"];
  const prepare: readonly TaskName[] =
    lifecycle === "durable"
      ? ["first-sight", "deliver", "require-delivery", "bootstrap", "maintain-bootstrap"]
      : ["first-sight", "bootstrap", "maintain-bootstrap", "deliver"];
  return ["settle", ...prepare, "admit", ...TO_THE_MODEL];
}
