// Shows calls of a conversation to a model without tools, as a check for loops does.
import { describe, expect, it } from "vitest";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });

const callOf = (path: string, at: number) => ({ id: `call_${at}`, name: "read", args: { path } });

const steps = (paths: readonly string[]): Said[] =>
  paths.flatMap((path, at): Said[] => [
    { uid: null, by: "model", text: "", calls: [callOf(path, at)] },
    { uid: null, by: "tools", results: [{ id: `call_${at}`, name: "read", text: `of ${path}` }] },
  ]);

function startPlay(api: DoorApi) {
  const door = new PlayedDoor();
  const send = (said: readonly Said[], head: string, tools: readonly string[]) => {
    const request = writeRequest(api, said, { model: "m", head: [head], tools: [...tools] });
    return door.request(api, { request, headers: {} });
  };
  /** A conversation in which a model has called for each of the files. */
  const work = (words: string, paths: readonly string[]) => {
    const said: Said[] = [person(words)];
    const sessions = paths.map((path, at) => {
      const handled = send(said, "Be brief.", ["read"]);
      door.reply(handled, { text: "", thinking: "", calls: [callOf(path, at)] });
      said.push(...steps(paths).slice(2 * at, 2 * at + 2));
      return handled.session;
    });
    return sessions[0]!;
  };
  const check = (shown: readonly Said[], tools: readonly string[] = []) =>
    send([person("What was done lately:"), ...shown, person("Is it in a circle?")], "Look.", tools);
  return { work, check };
}

describe.each(Object.keys(DOOR_WIRES) as DoorApi[])("calls shown by a client of %s", (api) => {
  const PATHS = ["a.txt", "b.txt", "c.txt", "d.txt"];

  it("stand beside the session that alone made them, though their ids count up", () => {
    const { work, check } = startPlay(api);
    const session = work("Read them.", PATHS);
    work("Read others.", ["w.txt", "x.txt", "y.txt", "z.txt"]);
    const checked = check(steps(PATHS).slice(2));
    expect(checked).toMatchObject({ session, match: { kind: "side", by: "call-id" } });
  });

  it.each([
    ["another conversation made the newest, too", PATHS, steps(PATHS)],
    ["one of them is nobody's", ["w.txt"], [...steps(["q.txt"]), ...steps(PATHS).slice(2)]],
    ["they are fewer than three", ["w.txt"], steps(PATHS).slice(4)],
  ] as const)("tell no session where %s", (_why, others, shown) => {
    const { work, check } = startPlay(api);
    const own = [work("Read them.", PATHS), work("Read others.", others)];
    expect(own).not.toContain(check(shown).session);
  });

  it("tell no session with tools: whoever has those goes on", () => {
    const { work, check } = startPlay(api);
    const session = work("Read them.", PATHS);
    expect(check(steps(PATHS), ["read"]).session).not.toBe(session);
  });
});
