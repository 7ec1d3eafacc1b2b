// Deletes a session at the door while its client goes on in it.
import { expect, it, onTestFinished } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { shortName } from "../../sessions/keys.ts";
import { clew } from "../../testing/command.ts";
import { ask, person } from "../../testing/door-client.ts";
import { saidIn } from "../../testing/said-in.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { startReplies } from "../testing/http-world.ts";

it.each(DOOR_APIS)(
  "by %s, whoever goes on in a session that was deleted begins one with all that it brings",
  async (api) => {
    const upstream = await startReplies();
    onTestFinished(upstream.close);
    let door = await startTestDoor(upstream);
    const said: Said[] = [];
    const expected: string[] = [];
    const says = async (words: string) => {
      const reply = `Of ${words}: because of the parser, which drops the last line.`;
      said.push(person(words));
      upstream.await(words, { reply: { text: reply, thinking: "", calls: [] }, fault: undefined });
      const { answer } = await ask(door, api, said, {
        model: "model",
        headers: { "x-ask": words },
      });
      said.push({ uid: null, by: "model", text: reply, calls: [] });
      expected.push(`user: ${words}`, `assistant: ${reply}`);
      await door.gateway.door.settled();
      return answer.headers.get("x-clew-session")!;
    };
    await says("Why");
    const first = await says("When");
    const { code, output } = await clew(door.home, ["sessions", "delete", first, "--yes"]);
    expect([code, output]).toEqual([0, expect.stringContaining("its client has the words still")]);

    const second = await says("Where");
    expect(second).not.toBe(first);
    expect(await says("Who")).toBe(second);
    await door.stop();
    door = await startTestDoor(upstream, { home: door.home });
    expect(await says("How")).toBe(second);

    expect(await saidIn(door, second)).toEqual(expected);
    const left = await door.gateway.store.list();
    expect(left.map(({ key }) => shortName(key))).toEqual([second]);
  },
);
