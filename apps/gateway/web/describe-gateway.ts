// Says at the top of the page how the gateway is.
import type { Health } from "./api.ts";
import type { PageState } from "./page-state.ts";

/** "busy": turns wait for others · "not-ready": it answers, and takes no message. */
export type GatewayMood = PageState["connection"] | "busy" | "not-ready";

export interface GatewayLine {
  mood: GatewayMood;
  text: string;
  /** What its turns are doing. Absent: there are none. */
  turns?: string;
}

const CONNECTIONS = {
  connecting: "connecting…",
  ok: "running",
  away: "not answering",
} satisfies Record<PageState["connection"], string>;

/** Pure. */
export function describeGateway(
  connection: PageState["connection"],
  health: Pick<Health, "model" | "turns" | "notReady"> | null,
): GatewayLine {
  if (connection !== "ok" || health === null)
    return { mood: connection, text: CONNECTIONS[connection] };
  const { model, turns = { running: 0, waiting: 0 }, notReady = [] } = health;
  const told = turnsOf(turns);
  const mood = notReady.length > 0 ? "not-ready" : turns.waiting > 0 ? "busy" : "ok";
  return { mood, text: mood === "not-ready" ? "not ready" : model, ...(told && { turns: told }) };
}

function turnsOf({ running, waiting }: NonNullable<Health["turns"]>): string {
  return [
    ...(running > 0 ? [`${running} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ].join(", ");
}
