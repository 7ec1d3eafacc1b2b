// A session with everything to inspect, made by real turns against an emulated model.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { onTestFinished } from "vitest";
import { emulatedModel } from "../../src/testing/gateway.ts";
import { temporaryHome } from "../../src/testing/home.ts";
import { startPageGateway } from "./browser.ts";

/** Said in the first turn, and in none after it. */
export const PLANTED = "KEY-4711";
/** Calls of the third turn. */
export const CALLS = 17;

const note = (number: number) =>
  `Note ${number}: the lighthouse at Skerry ${number} is kept by Ada-${number}. ${`The tide at rock ${number} was high and the boat waited. `.repeat(90)}`;

/**
 * Three turns, the third of 17 calls; five long ones; a compaction by command; one turn more. Usage
 * is told, the second half of each prompt as read from the provider's cache.
 */
export async function inspectedSession() {
  const told = { usage: { prompt: 6000, completion: 40, cached: 3000 } };
  const look = { name: "read_file", arguments: { path: "harbour.md" } };
  const server = await createOpenAIEmulator({
    answers: [
      { text: "Noted.", ...told },
      { text: "Noted, too.", ...told },
      ...Array.from({ length: CALLS - 1 }, () => ({ toolCalls: [look], ...told })),
      { text: "It is Ondine Brack.", ...told },
      ...Array.from({ length: 40 }, () => ({ text: "Noted again.", ...told })),
    ],
  });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const workspace = join(home, "agents/main/workspace");
  await mkdir(workspace, { recursive: true });
  const master = "The harbour master is called Ondine Brack.\n".repeat(20);
  await writeFile(join(workspace, "harbour.md"), master);
  const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const model = emulatedModel(server.baseUrl, { cost, contextWindow: 64_000 });
  const compaction = { keepRecentTokens: 4000 };
  const agents = { defaults: { model: "emulated/emulated", compaction } };
  const started = await startPageGateway({ config: { ...model, agents }, home });
  const { gateway } = started;
  const say = (content: string) => gateway.send({ key: "main", content });
  await say(`The code of the gate is ${PLANTED}.`);
  await say("Minka is my cat.");
  await say("Who is the harbour master? Look often.");
  for (let number = 1; number <= 5; number++) await say(note(number));
  await gateway.command("main", { kind: "command", name: "compact", args: "" });
  await say("Thank you.");
  const get = async <Body>(path: string): Promise<Body> =>
    (await fetch(`${started.url}/api/sessions/main${path}`)).json() as Promise<Body>;
  return { ...started, server, get };
}
