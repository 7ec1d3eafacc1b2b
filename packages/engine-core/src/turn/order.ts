// In which order the parts of a turn come.
import type { HostCapability } from "@clew/plugin-sdk/core";
import type { TaskName, TurnSetup } from "./turn.ts";

type Host = Pick<TurnSetup, "execution">;

/** From the stored history to the model's answer. */
export function toTheModel(host: Host): readonly TaskName[] {
  const ask: TaskName = host.execution === null ? "call" : "execute";
  return hasCapability(host, "assemble-before-prompt")
    ? ["read", "assemble", "hooks", "compose", ask]
    : ["read", "hooks", "compose", ask];
}

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
export const afterTheReply = (host: Host): readonly TaskName[] =>
  possible(host, ["deliver", "maintain-turn", "auto-compact"]);

/** Whether the host of the turn can do this for its engine. */
export const hasCapability = ({ execution }: Host, capability: HostCapability): boolean =>
  execution === null || execution.capabilities.includes(capability);

/** What a host must be able to do for these parts to be done at all. */
const NEEDED: Partial<Record<TaskName, HostCapability>> = {
  bootstrap: "bootstrap",
  "maintain-bootstrap": "maintain",
  "maintain-turn": "maintain",
  deliver: "after-turn",
  "require-delivery": "after-turn",
  "auto-compact": "compact",
};

const possible = (host: Host, tasks: readonly TaskName[]): readonly TaskName[] =>
  tasks.filter((task) => {
    const needed = NEEDED[task];
    return needed === undefined || hasCapability(host, needed);
  });

/**
 * Before the message is stored. A durable engine must have every earlier turn before it reads the
 * transcript again, but not before it has read it for the first time; an eager one may find them
 * there. That it sees the session is written down before it reads: how a first look ended that was
 * cut short is not known, and a second one may read nothing.
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
  eager: ["first-sight", "bootstrap", "maintain-bootstrap", "deliver"],
} as const satisfies Record<TurnSetup["lifecycle"], readonly TaskName[]>;

/**
 * The order of a turn (contract §3.1). Before it compacts, an engine is told what it lacks: what it
 * does not know it could not keep.
 */
export function planTurn({
  purpose,
  lifecycle,
  execution,
}: Pick<TurnSetup, "purpose" | "lifecycle" | "execution">): readonly TaskName[] {
  const host = { execution };
  if (purpose === "preview")
    return ["settle", ...possible(host, ["bootstrap"]), "admit", ...toTheModel(host)];
  if (purpose === "compaction") return ["settle", ...possible(host, ["deliver"]), "compact"];
  return ["settle", ...possible(host, PREPARE[lifecycle]), "admit", ...toTheModel(host)];
}
