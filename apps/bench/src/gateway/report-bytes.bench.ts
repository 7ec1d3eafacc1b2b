// How many bytes turn reports take beside the transcript of the same turns.
import { mkdir, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { defineBench } from "../runner/bench.ts";
import { newHome, say, startGateway } from "./gateway-process.ts";

const SHORT = (turn: number) => `Locker ${turn * 7}, please.`;
const LONG = (turn: number) => `Turn ${turn}: ${"The corridor has many lockers. ".repeat(20)}`;

const READ = (turn: number) => `Read note ${turn}, please.`;

interface Case {
  name: string;
  turns: number;
  text: (turn: number) => string;
  /** True: each turn reads a file, with ids of calls that the provider's rules change. */
  hasTools?: boolean;
}

const CASES: readonly Case[] = [
  { name: "10 short turns", turns: 10, text: SHORT },
  { name: "100 short turns", turns: 100, text: SHORT },
  { name: "500 short turns", turns: 500, text: SHORT },
  { name: "200 longer turns", turns: 200, text: LONG },
  { name: "10 turns with tools", turns: 10, text: READ, hasTools: true },
  { name: "60 turns with tools", turns: 60, text: READ, hasTools: true },
];

/** Of a turn that says little, the report may be no larger than what was said. */
const MOST = 1;

export default defineBench({
  name: "report-bytes",
  description: "bytes of reports and their parts for each byte of transcript; goal: at most 1",
  rounds: 1,
  warmups: 0,
  cases: CASES.map(({ name, turns, text, hasTools = false }) => ({
    name,
    async prepare() {
      const model = hasTools ? await readingModel() : undefined;
      const home = await newHome(model?.config);
      const workspace = join(home, "agents/main/workspace");
      await mkdir(workspace, { recursive: true });
      await writeFile(join(workspace, "note.txt"), "The tide is high at noon. ".repeat(12));
      const gateway = await startGateway({ home });
      const facts: Record<string, number> = {};
      return {
        async run() {
          for (let turn = 0; turn < turns; turn++) await say(gateway.url, text(turn));
          const agent = join(gateway.home, "agents/main");
          const sessions = await bytesIn(join(agent, "sessions"));
          const reports = await bytesIn(join(agent, "reports"));
          const parts = await bytesIn(join(agent, "reports/parts"));
          facts.transcriptKB = Math.round(sessions / 1024);
          facts.reportKB = Math.round((reports - parts) / 1024);
          facts.partKB = Math.round(parts / 1024);
          facts.ratio = Math.round((100 * reports) / sessions) / 100;
        },
        facts: () => facts,
        async dispose() {
          await gateway.stop();
          await model?.close();
        },
      };
    },
  })),
  check: (results) =>
    CASES.flatMap(({ name }) => {
      const ratio = Number(results.get(name)?.facts?.ratio);
      return ratio <= MOST ? [] : [`${name}: reports take ×${ratio} of the transcript.`];
    }),
});

async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name))),
  );
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

/** A model that reads the note once in each turn. */
async function readingModel() {
  const server = await createOpenAIEmulator({
    answers: ({ body }) => {
      const { messages } = body as { messages: { role: string }[] };
      const call = { name: "read_file", arguments: { path: "note.txt" } };
      return messages.at(-1)!.role === "tool" ? { text: "Read." } : { toolCalls: [call] };
    },
  });
  const models = [{ id: "emulated", contextWindow: 200_000 }];
  return {
    config: {
      agents: { defaults: { model: "emulated/emulated" } },
      models: { providers: { emulated: { baseUrl: server.baseUrl, models } } },
    },
    close: () => server.close(),
  };
}
