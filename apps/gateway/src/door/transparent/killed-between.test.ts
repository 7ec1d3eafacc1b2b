// Kills a door between a transcript and its journal, and lets clients ask again.
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { TestGateway } from "../../testing/gateway.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Reply } from "../testing/agents.ts";
import { TestClient as Client } from "../testing/client.ts";
import { type Fault, startReplies } from "../testing/http-world.ts";

const saying = (text: string): Reply => ({ text, thinking: "", calls: [] });

async function begin() {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const client = new Client("openai-completions");
  let door = await startTestDoor(upstream);
  let session = "";
  const play = async (text: string, { fault, isHeard = true }: Played = {}) => {
    const ask = client.ask();
    const heard = isHeard && fault === undefined ? ask : { ...ask, take: () => {} };
    const played = await upstream.play(door.url, heard, { reply: saying(text), fault });
    session = played.session ?? session;
  };
  /** As if it had been killed when these lines of the journal were not written. */
  const kill = async (unwritten: number) => {
    await door.gateway.door.settled();
    const { file } = (await door.gateway.store.find(session))!;
    await door.stop();
    const journal = (await readFile(`${file}.door`, "utf8")).trimEnd().split("\n");
    const left = journal.slice(0, journal.length - unwritten);
    await writeFile(`${file}.door`, `${left.join("\n")}\n`);
    door = await startTestDoor(upstream, { home: door.home });
  };
  client.say("Opening words.");
  await play("Opening reply.");
  return { client, play, kill, words: () => wordsIn(door, session) };
}

/** Its client has asked, and heard nothing of these replies. */
async function beginUnheard(...replies: string[]) {
  const begun = await begin();
  begun.client.say("Asking words.");
  for (const reply of replies) await begun.play(reply, UNHEARD);
  return begun;
}

interface Played {
  fault?: Fault;
  isHeard?: boolean;
}

async function wordsIn({ gateway }: TestGateway, session: string) {
  await gateway.door.settled();
  const { branch = [] } = (await gateway.store.read(session)) ?? {};
  return branch.flatMap((entry) => {
    if (entry.type !== "message" || !("content" in entry.message)) return [];
    return /[A-Z][a-z]+ (?:reply|words|of)/.exec(JSON.stringify(entry.message.content))?.[0] ?? "?";
  });
}

const OPENING = ["Opening words", "Opening reply"];
const UNHEARD = { isHeard: false };

describe("a reply that nobody heard stands beside the one that was", () => {
  it("where its client asked again in vain in between", async () => {
    const { play, kill, words } = await beginUnheard("First reply.");
    await kill(0);
    await play("Broken reply.", { fault: "broken" });
    await play("Second reply.");
    expect(await words()).toEqual([...OPENING, "Asking words", "Second reply"]);
  });

  it("where it was not in the journal, and its client asked again in vain twice", async () => {
    const { play, kill, words } = await beginUnheard("First reply.");
    await kill(1);
    await play("Broken reply.", { fault: "broken" });
    await kill(0);
    await play("Broken reply.", { fault: "500" });
    await kill(0);
    await play("Second reply.");
    expect(await words()).toEqual([...OPENING, "Asking words", "Second reply"]);
  });

  it("where it was itself another's, and not in the journal", async () => {
    const { client, play, kill, words } = await beginUnheard("First reply.", "Second reply.");
    await kill(1);
    await play("Third reply.");
    client.say("Following words.");
    await play("Last reply.");
    expect(await words()).toEqual([
      ...[...OPENING, "Asking words", "Third reply"],
      ...["Following words", "Last reply"],
    ]);
  });

  it("and its client goes on with the first of all", async () => {
    const { client, play, kill, words } = await beginUnheard("First reply.", "Second reply.");
    await kill(1);
    client.ask().take(saying("First reply."));
    client.say("Following words.");
    await play("Broken reply.", { fault: "500" });
    // What was brought is stored and not in the journal.
    await kill(2);
    await play("Last reply.");
    expect(await words()).toEqual([
      ...[...OPENING, "Asking words", "First reply"],
      ...["Following words", "Last reply"],
    ]);
  });
});

describe("the summary by which a client goes on is stored once", () => {
  const SUMMARY =
    "Summary of the parser: line seven of it had a wrong bound, and it is mended now.";

  it.each([0, 2])("where nothing of it was in the journal, with %i messages kept", async (kept) => {
    const { client, play, kill, words } = await begin();
    client.say("Asking words.");
    await play("First reply.");
    const before = client.said;
    client.say("Create a summary of the conversation above:");
    await play(SUMMARY, UNHEARD);
    const told = { uid: null, by: "person" as const, text: `It is so: ${SUMMARY}` };
    client.said = [told, ...before.slice(0, -1).slice(-kept || before.length)];
    client.say("Following words.");
    await play("Broken reply.", { fault: "500" });
    await kill(2);
    await play("Last reply.");
    expect(await words()).toEqual([
      ...[...OPENING, "Asking words", "First reply"],
      ...["Summary of", "Following words", "Last reply"],
    ]);
  });
});
