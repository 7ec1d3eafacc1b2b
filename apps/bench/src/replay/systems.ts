// Which engine a replay runs, and under which configuration.
import type { ModelPort } from "@clew/engine-core";
import type { ExactCounter } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { PRICE } from "./prices.ts";
import { recordedModel } from "./recorded-summaries.ts";

/** An engine as it is named on the command line: "legacy", or "legacy:no-model". */
export interface EngineChoice {
  name: string;
  engineId: string;
  /** Who answers whoever wants a summary; nobody, for "none". */
  summariser: "offline" | "recorded" | "none";
}

const SUMMARISERS = [
  [":no-model", "none"],
  [":recorded", "recorded"],
] as const;

/** Pure. */
export function readEngineChoice(name: string): EngineChoice {
  const [end, summariser] = SUMMARISERS.find(([one]) => name.endsWith(one)) ?? ["", "offline"];
  return { name, engineId: name.slice(0, name.length - end.length), summariser };
}

/** What the replay's gateway is configured with. Pure. */
export function configOf(
  { engineId }: EngineChoice,
  { base, pluginFolders }: { base: Record<string, unknown>; pluginFolders: readonly string[] },
): Record<string, unknown> {
  const agents = recordIn(base, "agents");
  const defaults = recordIn(agents, "defaults");
  const plugins = recordIn(base, "plugins");
  return {
    ...base,
    // A recorded turn is as long as it was.
    agents: {
      ...agents,
      defaults: { maxModelCalls: 100_000, timeoutSeconds: 100_000, ...defaults },
    },
    plugins: {
      ...plugins,
      slots: { ...recordIn(plugins, "slots"), contextEngine: engineId },
      load: { ...recordIn(plugins, "load"), paths: [...pluginFolders] },
    },
  };
}

/** The section under `key`; empty where there is none. */
export function recordIn(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const found = value[key];
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
}

/** The model of summaries, watched. */
export interface WatchedSummaries {
  wrap(model: ModelPort): ModelPort;
  /** What its calls cost. */
  cost(): number;
  /** How often it was asked, and with how many tokens in all. */
  asked(): { calls: number; tokens: number };
}

/** `recorded`: the summaries of the session that is played. */
export function watchSummaries(
  { summariser }: EngineChoice,
  { counter, recorded }: { counter: ExactCounter; recorded: readonly string[] },
): WatchedSummaries {
  let cost = 0;
  const all = { calls: 0, tokens: 0 };
  const watched =
    (complete: ModelPort["complete"]): ModelPort["complete"] =>
    async (call) => {
      const answer = await complete(call);
      const asked = [call.systemPrompt, ...call.messages.map(textOf)];
      const input = asked.reduce((sum, text) => sum + counter.count(text), 0);
      const output = answer.ok ? counter.count(textOf(answer.message)) : 0;
      cost += PRICE.input * input + PRICE.output * output;
      all.calls++;
      all.tokens += input;
      return answer;
    };
  const refuse: ModelPort["complete"] = async () => ({
    ok: false,
    error: { kind: "auth", message: "There is no model here." },
    partial: { role: "assistant", content: [], stopReason: "error" },
  });
  const completing = (model: ModelPort) => {
    if (summariser === "none") return refuse;
    return watched(summariser === "recorded" ? recordedModel(recorded) : model.complete);
  };
  return {
    wrap: (model) => ({ ...model, complete: completing(model) }),
    cost: () => cost,
    asked: () => ({ ...all }),
  };
}
