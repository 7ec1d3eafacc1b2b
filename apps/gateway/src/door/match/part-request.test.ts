// Lets a session be named in requests that bring a part of it, and then sends all of it.
import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import type { Said, SaidCall } from "../testing/conversation.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";
import { formOf } from "../wires/json.ts";
import { KnownRequests } from "./known-requests.ts";
import { namedRequest } from "./part-request.ts";
import { planIngest } from "./plan-ingest.ts";
import { planMatch } from "./plan-match.ts";
import { replyMarks } from "./reply-marks.ts";
import { sketchRequest } from "./sketch.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });

function startTalk(api: DoorApi, { ids = true } = {}) {
  const known = new KnownRequests();
  const wire = DOOR_WIRES[api];
  const sketch = (said: readonly Said[]) => {
    const { body, path } = writeRequest(api, said, {
      ...{ model: "m", head: ["Be kind."], tools: ["read"], ids },
    });
    return sketchRequest(wire, wire.read(body, path)!, { compacts: false });
  };
  const all: Said[] = [];
  /** By the session's name, with these alone; `whole`: was a reply to it. */
  const part = (said: Said, text: string, calls: readonly SaidCall[] = [], whole = true) => {
    const { match, event } = namedRequest(known, "s", sketch([said]));
    known.learn(event);
    const marks = replyMarks(match, {
      calls: ids && whole ? calls.map(({ id }) => id) : [],
      forms: whole ? calls.map(({ name, args }) => formOf(name, args)) : [],
      texts: text === "" || !whole ? [] : [text],
    });
    known.learn({ type: "reply", session: "s", kind: "turn", end: event.end, whole, ...marks });
    all.push(said);
    if (whole) all.push({ uid: null, by: "model", text, calls });
  };
  const send = (said: readonly Said[]) => {
    const request = sketch(said);
    const match = planMatch(known, request);
    return { session: match.session, fresh: planIngest(known, match, request).fresh };
  };
  return { all, part, send };
}

describe.each(DOOR_APIS)("by %s", (api) => {
  const ways = ["call_k3J9xQ", "call_0", ...(api === "google-generative-ai" ? [""] : [])];
  it.each(ways)("a result alone is of the newest reply's call (its id: %j)", (id) => {
    const { all, part, send } = startTalk(api, { ids: id !== "" });
    const called = { id, name: "read", args: { path: "a.txt" } };
    part(person("Opening words."), "Opening reply, and a few words more.");
    part(person("What is in a.txt?"), "", [called]);
    const results = [{ id, name: "read", text: "content" }];
    part({ uid: null, by: "tools", results }, "It holds nothing but the word content.");
    const next = [...all, person("And in b.txt?")];
    const { session, fresh } = send(next);
    expect(session).toBe("s");
    expect(fresh).toEqual([next.length - 1]);
  });

  it("words that had no reply and are said once more are known once", () => {
    const { all, part, send } = startTalk(api);
    part(person("Opening words."), "Opening reply, and a few words more.");
    part(person("Go on."), "", [], false);
    all.pop();
    part(person("Go on."), "It went on from there, and came to the end.");
    const next = [...all, person("Go on.")];
    expect(send(next)).toEqual({ session: "s", fresh: [next.length - 1] });
  });

  it("who begins with the words of a part is somebody else", () => {
    const { part, send } = startTalk(api);
    part(person("Opening words."), "Opening reply, and a few words more.");
    part(person("Go on."), "", [], false);
    expect(send([person("Go on.")]).session).toBeNull();
    const other: Said = { uid: null, by: "model", text: "Where to?", calls: [] };
    expect(send([person("Go on."), other, person("On.")]).session).toBeNull();
  });
});
