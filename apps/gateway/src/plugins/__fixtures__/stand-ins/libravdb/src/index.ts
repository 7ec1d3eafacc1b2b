// Stands in for libravdb: TypeScript that nobody compiled, a memory and an engine at once.
// @ts-expect-error: the host resolves it
import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";
import { type Row, Store } from "./store.js";

interface Message {
  role: string;
  content: string | { text?: string }[];
}

interface Program {
  name(): string;
  commands: Program[];
  command(name: string): Program;
  action(run: () => void): Program;
}

type Handler = (event: Record<string, unknown>, context: Record<string, string>) => unknown;

interface Api {
  registerContextEngine(id: string, make: () => object): void;
  registerMemoryPromptSection(build: (params: { availableTools: Set<string> }) => string[]): void;
  registerMemoryCapability?(capability: object): void;
  registerCli?(add: (context: { program: Program }) => void, options: object): void;
  on(name: string, handler: Handler): void;
  pluginConfig?: { keep?: number };
}

const textOf = ({ content }: Message): string =>
  typeof content === "string" ? content : content.map(({ text = "" }) => text).join("\n");

export default definePluginEntry({
  id: "stand-in-libravdb",
  name: "Stand-in for libravdb",
  register(api: Api) {
    const store = new Store();
    const keep = api.pluginConfig?.keep ?? 6;
    // A sidecar, and what it reads, begins here.
    const ingestion = Promise.resolve().then((): Row[] => store.rows);
    api.registerMemoryPromptSection(() => ["Facts in <libra> are of earlier sessions."]);
    api.registerMemoryCapability?.({
      runtime: {
        getMemorySearchManager: async () => ({
          manager: {
            search: async (query: string) =>
              store.search(query).map((snippet, at) => ({
                ...{ path: `libra/${at}`, startLine: 1, endLine: 1, score: 1, snippet },
              })),
            readFile: async () => ({ text: "" }),
          },
        }),
      },
    });
    api.registerContextEngine("libravdb-memory", () => ({
      info: { id: "libravdb-memory", name: "LibraVDB", ownsCompaction: true },
      async ingest() {
        return { ingested: false };
      },
      async assemble({ messages, prompt = "" }: { messages: Message[]; prompt?: string }) {
        await ingestion;
        const turns = messages.flatMap(({ role }, at) => (role === "user" ? [at] : []));
        const found = store.search(prompt);
        return {
          messages: messages.slice(turns.at(-keep) ?? 0),
          estimatedTokens: 0,
          ...(found.length > 0 && { systemPromptAddition: `<libra>${found.join("; ")}</libra>` }),
        };
      },
      async compact() {
        return { ok: true, compacted: false, reason: "the view is small by itself" };
      },
      async afterTurn({
        sessionId,
        messages,
        isHeartbeat,
      }: {
        sessionId: string;
        messages: Message[];
        isHeartbeat?: boolean;
      }) {
        if (isHeartbeat) return;
        for (const message of messages)
          if (message.role === "user") store.add({ session: sessionId, text: textOf(message) });
      },
    }));
    api.registerCli?.(
      ({ program }) => {
        const known = program.commands.find((each) => each.name() === "memory");
        const memory = known ?? program.command("memory");
        memory.command("libra").action(() => console.log(`${store.rows.length} rows`));
      },
      { commands: ["memory"] },
    );
    for (const name of ["session_end", "before_reset", "gateway_stop"])
      api.on(name, (_event, { workspaceDir }) => void workspaceDir);
  },
});
