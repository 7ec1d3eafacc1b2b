// Whose setting names the engine of a session.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { slotValue } from "../find/enablement.ts";

/** "run": whoever asked for this run; "default": nobody. */
export type ChosenBy = "run" | "session" | "agent" | "slot" | "default";

export interface EngineChoice {
  chosenBy: ChosenBy;
  /** As it is written there; undefined = nobody names one. */
  engineId: string | undefined;
}

/** Pure. Each wins over those behind it. */
export function planEngineChoice(named: {
  run: string | undefined;
  /** Of the session itself, as whoever started it asked. */
  session: string | null | undefined;
  agent: string | undefined;
  plugins: PluginsConfig;
}): EngineChoice {
  const { run, session, agent, plugins } = named;
  if (run !== undefined) return { chosenBy: "run", engineId: run };
  if (typeof session === "string") return { chosenBy: "session", engineId: session };
  if (agent !== undefined) return { chosenBy: "agent", engineId: agent };
  return slotValue(plugins) === null
    ? { chosenBy: "default", engineId: undefined }
    : { chosenBy: "slot", engineId: plugins.slots?.contextEngine };
}

/** Pure. The place to look at; undefined = nobody chose. */
export function describeChooser(chosenBy: ChosenBy, agentId: string): string | undefined {
  switch (chosenBy) {
    case "run":
      return "whoever asked for this run";
    case "session":
      return "the session that started this one";
    case "agent":
      return `agents.list (agent "${agentId}")`;
    case "slot":
      return "plugins.slots.contextEngine";
    case "default":
      return undefined;
  }
}

/** Pure. What to change for another engine, as half a sentence. */
export function describeOtherEngine(
  { chosenBy, agentId }: { chosenBy: ChosenBy; agentId: string },
  engineId: string,
): string {
  return chosenBy === "agent"
    ? `"engine": "${engineId}" for agent "${agentId}" in agents.list`
    : `clew config set plugins.slots.contextEngine ${engineId}`;
}
