// In which order the parts of a turn come.
import type { TaskName, TurnSetup } from "./turn.ts";

/** From the stored history to the model's answer. */
export const TO_THE_MODEL: readonly TaskName[] = ["read", "assemble", "hooks", "compose", "call"];

/** Between a reply that asks for tools and the next call. */
export const TO_THE_NEXT_CALL: readonly TaskName[] = [
  "tools",
  "listen",
  "auto-compact",
  "deliver-in-loop",
  "assemble-again",
  "compose",
  "call",
];

/** After the reply, which stands whatever happens now. */
export const AFTER_THE_REPLY: readonly TaskName[] = ["deliver", "maintain-turn", "auto-compact"];

/**
 * Before the message is stored. A durable engine must have every earlier turn before it reads the
 * transcript again, but not before it has read it for the first time; an eager one may find them
 * there.
 */
const PREPARE = {
  durable: [
    "deliver",
    "require-delivery",
    "bootstrap",
    "first-sight",
    "deliver",
    "require-delivery",
    "maintain-bootstrap",
  ],
  eager: ["bootstrap", "first-sight", "maintain-bootstrap", "deliver"],
} as const satisfies Record<TurnSetup["lifecycle"], readonly TaskName[]>;

/**
 * The order of a turn (contract §3.1). Before it compacts, an engine is told what it lacks: what it
 * does not know it could not keep.
 */
export function planTurn({
  purpose,
  lifecycle,
}: Pick<TurnSetup, "purpose" | "lifecycle">): readonly TaskName[] {
  if (purpose === "preview") return ["settle", "bootstrap", "admit", ...TO_THE_MODEL];
  if (purpose === "compaction") return ["settle", "deliver", "compact"];
  return ["settle", ...PREPARE[lifecycle], "admit", ...TO_THE_MODEL];
}
