// Keeps a session locked while a client goes on in it at the door.
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { acquireLock } from "../../locks/lock.ts";
import { describeUnstored } from "../../running-unstored.ts";
import { transcriptFile } from "../../sessions/paths.ts";
import { ask, person } from "../../testing/door-client.ts";
import { saidIn } from "../../testing/said-in.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { HELD_WORDS, startHeldUpstream } from "../testing/held-upstream.ts";
import { startReplies } from "../testing/http-world.ts";
import type { DoorApi, JsonObject } from "../wires/door-wire.ts";

const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });

async function start(api: DoorApi) {
  const upstream = await startReplies();
  onTestFinished(upstream.close);
  let door = await startTestDoor(upstream);
  const said: Said[] = [];
  const settled = () => door.gateway.door.settled();
  const says = async (words: string, reply: string) => {
    said.push(person(words));
    upstream.await(reply, { reply: { text: reply, thinking: "", calls: [] }, fault: undefined });
    const sent = { model: "model", headers: { "x-ask": reply } };
    const { answer, error } = await ask(door, api, said, sent);
    expect(error).toBe(null);
    said.push(model(reply));
    await settled();
    return answer.headers.get("x-clew-session")!;
  };
  const session = await says("Why?", "Because of the parser, which drops the last line.");
  return {
    ...{ session, said, says, settled },
    stored: () => saidIn(door, session),
    /** As another program does that has it open. */
    async locked() {
      const { sessionId } = (await door.gateway.store.read(session))!;
      await door.stop();
      const outcome = await acquireLock(`${transcriptFile(door.home, "main", sessionId)}.lock`);
      if (!outcome.held) throw new Error("it is locked");
      return outcome.lock.release;
    },
    async startAgain(by = upstream as Parameters<typeof startTestDoor>[0]) {
      door = await startTestDoor(by, { home: door.home });
      return door;
    },
  };
}

it.each(DOOR_APIS)(
  "by %s, what cannot be stored is stored when its client goes on",
  async (api) => {
    const { session, says, stored, locked, startAgain } = await start(api);
    const release = await locked();
    const door = await startAgain();
    for (const round of [1, 2])
      expect(await says(`Locked ${round}.`, `Yes ${round}.`)).toBe(session);
    const told = async () => {
      const health = (await (await door.get("/api/health")).json()) as JsonObject;
      const metrics = await (await door.get("/metrics")).text();
      const [, count] = /^clew_door_unstored_sessions (\d+)$/m.exec(metrics)!;
      return { said: describeUnstored({ health }), count: Number(count) };
    };
    const why = `Session ${session} is answered and not wholly stored: `;
    expect(await told()).toEqual({ said: [expect.stringContaining(why)], count: 1 });
    await release();
    expect(await says("And now?", "Now, too.")).toBe(session);
    expect(await says("Good.", "Yes.")).toBe(session);
    expect(await told()).toEqual({ said: [], count: 0 });
    expect(await stored()).toEqual([
      ...["user: Why?", "assistant: Because of the parser, which drops the last line."],
      ...["user: Locked 1.", "assistant: Yes 1.", "user: Locked 2.", "assistant: Yes 2."],
      ...["user: And now?", "assistant: Now, too.", "user: Good.", "assistant: Yes."],
    ]);
  },
);

it.each(DOOR_APIS)("by %s, it is stored with its reply where it can be by then", async (api) => {
  const { said, stored, locked, startAgain } = await start(api);
  const release = await locked();
  const held = await startHeldUpstream();
  const door = await startAgain(held);
  const asking = ask(door, api, [...said, person("And now?")], { model: "model", streaming: true });
  const stream = await held.asked();
  await door.gateway.door.settled();
  await release();
  stream.finish();
  expect((await asking).error).toBe(null);
  await door.gateway.door.settled();
  expect(await stored()).toEqual([
    ...["user: Why?", "assistant: Because of the parser, which drops the last line."],
    ...["user: And now?", `assistant: ${HELD_WORDS}`],
  ]);
});
