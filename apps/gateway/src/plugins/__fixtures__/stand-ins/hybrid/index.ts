// Stands in for hybrid-memory: TypeScript, many tools that no manifest names, and every old way.

interface Api {
  [member: string]: (...given: unknown[]) => unknown;
}

type Event = Record<string, unknown> & {
  messages?: { role: string; content: unknown }[];
  historyMessages?: unknown[];
  prompt?: string;
  success?: boolean;
};

const TOOLS = 63;
const facts: string[] = [];

const textOf = (content: unknown): string =>
  typeof content === "string"
    ? content
    : ((content ?? []) as { text?: string }[]).map(({ text = "" }) => text).join("\n");

const fitting = (query = ""): string[] => {
  const words = query.split(/\W+/).filter((word) => word.length > 3);
  return facts.filter((fact) => words.some((word) => fact.includes(word)));
};

export default {
  id: "stand-in-hybrid",
  name: "Stand-in for hybrid-memory",
  register(api: Api) {
    // It may be registered twice, and says so to nobody.
    facts.length = 0;
    for (let number = 1; number <= TOOLS; number++)
      api.registerTool!({
        name: `hybrid_${number}`,
        description: "One of many.",
        parameters: { type: "object" },
        execute: async () => ({ content: [{ type: "text", text: `${number}` }] }),
      });
    const on = (name: string, run: (event: Event, context: Record<string, string>) => unknown) =>
      api.on!(name, run);
    for (let handler = 0; handler < 6; handler++) on("before_agent_start", () => undefined);
    on("before_agent_start", ({ prompt }) => {
      const found = fitting(prompt);
      return found.length === 0 ? undefined : { prependContext: found.join("\n") };
    });
    on("agent_end", ({ success, messages = [] }, { trigger, sessionKey = "" }) => {
      if (!success || trigger === "heartbeat" || sessionKey.includes(":subagent:")) return;
      const said = messages.findLast(({ role }) => role === "user");
      if (said !== undefined) facts.push(textOf(said.content));
    });
    on("llm_input", ({ historyMessages }) => {
      // What it was given is its own to spoil.
      historyMessages?.splice(0);
    });
    for (const name of [
      "subagent_spawned",
      "subagent_ended",
      "before_compaction",
      "after_compaction",
    ])
      on(name, () => undefined);
    if (typeof api.registerHttpRoute === "function")
      for (const path of ["/graph", "/facts", "/stats", "/view", "/feed"])
        api.registerHttpRoute("GET", `/plugins/hybrid${path}`, () => undefined);
    api.registerMemoryCapability?.({ promptBuilder: () => [] });
    api.registerCli!(
      ({ program }: { program: { command(name: string): { action(run: () => void): void } } }) =>
        program.command("hybrid-mem").action(() => console.log(`${facts.length} facts`)),
      { commands: ["hybrid-mem"] },
    );
    api.registerService!({ id: "hybrid", start: () => undefined, stop: () => undefined });
  },
};
