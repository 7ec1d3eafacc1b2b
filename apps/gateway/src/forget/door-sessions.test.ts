// What is forgotten of a session that came by the door, whose client keeps all of it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../config/door.ts";
import type { Reply } from "../door/testing/agents.ts";
import { TestClient } from "../door/testing/client.ts";
import { startReplies } from "../door/testing/http-world.ts";
import type { DoorApi } from "../door/wires/door-wire.ts";
import { clew as runIn } from "../testing/command.ts";
import type { TestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { startTestDoor } from "../testing/test-door.ts";

const SECRET = 'Zanzibärquux "4711"';
/** Stands in every form of it, whatever is escaped. */
const TRACE = "anzib";

const filesHolding = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file, "latin1").includes(TRACE));

/** A client to which a secret was said, told by a tool, given to a tool and repeated. */
async function clientWithSecret(api: DoorApi) {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  const home = await temporaryHome();
  const client = new TestClient(api, { chars: 3_000 });
  const start = () => startTestDoor(upstream, { home });
  const sendTo = async (door: TestGateway, reply: Reply = client.reply()) => {
    const { session, status } = await upstream.play(door.url, client.ask(), {
      ...{ reply, fault: undefined },
    });
    expect(status).toBe(200);
    return session!;
  };
  const saying = (text: string): Reply => ({ ...client.reply(), text });
  const first = await start();
  client.say("Fix the parser, please, and then write down what you have changed.");
  await sendTo(first);
  client.say(`Remember for later that the code of the safe is ${SECRET}.`);
  await sendTo(first, saying(`I have noted that the code is ${SECRET} and go on.`));
  const call = client.reply();
  await sendTo(first, {
    ...call,
    calls: [{ ...call.calls[0]!, args: { path: `notes about ${SECRET} for the safe` } }],
  });
  client.said.push({
    ...{ uid: "told", by: "person" },
    text: `A second reminder, that ${SECRET} must be kept secret.`,
  });
  await sendTo(first);
  const told = client.said.findLast(({ by }) => by === "tools")!;
  if (told.by === "tools") told.results = [{ ...told.results[0]!, text: `A note: ${SECRET}.` }];
  await sendTo(first);
  // Its compaction is answered, and given up by the client.
  const summary = `The person wants a parser to be fixed. The code of the safe is ${SECRET}.`;
  await upstream.play(first.url, client.askForSummary(), {
    ...{ reply: { text: summary, thinking: "", calls: [] }, fault: undefined },
  });
  const session = await sendTo(first);
  await first.gateway.door.settled();
  await first.stop();
  /** As clients do with old results. */
  const shorten = () => {
    if (told.by === "tools") told.results = [{ ...told.results[0]!, text: `[${SECRET}]` }];
  };
  return {
    home,
    client,
    shorten,
    start,
    sendTo,
    session,
    clew: (...args: string[]) => runIn(home, args),
  };
}

describe("clew lossless forget in a session of the door", () => {
  it.each(DOOR_APIS)(
    "by %s leaves no word, goes on in the same session, and stores it not again",
    async (api) => {
      const { home, client, shorten, start, sendTo, session, clew } = await clientWithSecret(api);
      expect(filesHolding(home).length).toBeGreaterThan(1);
      const dry = await clew("lossless", "forget", "--text", SECRET);
      expect(dry.output).toContain("came by the door, and its client has the words still");
      expect(dry.output).not.toContain("would hold some of it still");
      const done = await clew("lossless", "forget", "--text", SECRET, "--yes");
      expect(done).toMatchObject({
        code: 0,
        output: expect.stringContaining("it goes on in this"),
      });
      expect(filesHolding(home)).toEqual([]);

      const second = await start();
      shorten();
      // Far enough for the view to be cut, and its remaining messages to be told of otherwise.
      for (let round = 0; round < 50; round++) expect(await sendTo(second)).toBe(session);
      client.say("Is that all?");
      expect(await sendTo(second)).toBe(session);
      await second.gateway.door.settled();
      const { calls } = (await (await second.gateway.inspect(session)).calls({ limit: 100 }))!;
      expect(calls.at(-1)!.fates.shortened).toBeGreaterThan(10);
      expect((await second.gateway.sessions()).map(({ key }) => key)).toEqual([
        `agent:main:${session}`,
      ]);
      await second.stop();
      expect(filesHolding(home)).toEqual([]);
      expect((await clew("doctor")).output).not.toContain("cannot be read");
    },
    60_000,
  );

  it("takes a whole session, and says that its client begins one anew", async () => {
    const { home, start, sendTo, session, clew } = await clientWithSecret("openai-completions");
    const done = await clew("lossless", "forget", "--session", session, "--yes");
    expect(done).toMatchObject({
      code: 0,
      output: expect.stringContaining("its next request begins a session anew"),
    });
    expect(filesHolding(home)).toEqual([]);
    const second = await start();
    expect(await sendTo(second)).not.toBe(session);
    await second.gateway.door.settled();
  });

  it("finds nothing more when it is asked again", async () => {
    const { home, clew } = await clientWithSecret("anthropic-messages");
    expect((await clew("lossless", "forget", "--text", SECRET, "--yes")).code).toBe(0);
    const again = await clew("lossless", "forget", "--text", SECRET, "--yes");
    expect(again.output).toContain("No message, summary, report, log or backup");
    expect(filesHolding(home)).toEqual([]);
  });
});
