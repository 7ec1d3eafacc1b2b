// How many bytes turn reports take beside the transcript of the same turns.
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { defineBench } from "../runner/bench.ts";
import { newHome, say, startGateway } from "./gateway-process.ts";

const SHORT = (turn: number) => `Locker ${turn * 7}, please.`;
const LONG = (turn: number) => `Turn ${turn}: ${"The corridor has many lockers. ".repeat(20)}`;

const CASES = [
  { name: "10 short turns", turns: 10, text: SHORT },
  { name: "100 short turns", turns: 100, text: SHORT },
  { name: "500 short turns", turns: 500, text: SHORT },
  { name: "200 longer turns", turns: 200, text: LONG },
];

/** Of a turn that says little, the report may be no larger than what was said. */
const MOST = 1;

export default defineBench({
  name: "report-bytes",
  description: "bytes of reports and their parts for each byte of transcript; goal: at most 1",
  rounds: 1,
  warmups: 0,
  cases: CASES.map(({ name, turns, text }) => ({
    name,
    async prepare() {
      const gateway = await startGateway({ home: await newHome() });
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
        dispose: () => gateway.stop(),
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
