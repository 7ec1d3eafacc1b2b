// Makes a session of short turns whose reports a test may damage.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { CallPageSchema } from "../inspect/shapes/calls.ts";
import { clew } from "./command.ts";
import { startTestGateway } from "./gateway.ts";

export const reportsIn = (home: string): string => {
  const folder = join(home, "agents/main/reports");
  return join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl"))!);
};

/** So many short turns, and the lines of their reports. */
export async function reportedTurns(count: number) {
  const { home, say, stop } = await startTestGateway();
  for (let turn = 1; turn <= count; turn++) await say(`No. ${turn}: the tide comes in.`);
  await stop();
  const file = reportsIn(home);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  const page = async () =>
    CallPageSchema.parse(JSON.parse((await clew(home, ["inspect", "main", "--json"])).output));
  return { home, file, lines, page };
}
