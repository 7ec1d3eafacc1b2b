// Lets a client write an earlier message anew.
import { expect, it } from "vitest";
import type { Reply } from "../testing/agents.ts";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";

const person = (text: string): Said => ({ uid: null, by: "person", text });
const told = (reply: Reply): Said => ({ uid: null, by: "model", ...reply });
const CALL = { id: "call_0", name: "read", args: { path: "a" } };
const CALLED: Reply = { text: "", thinking: "It may be in a.", calls: [CALL] };
const RESULT: Said = {
  uid: null,
  by: "tools",
  results: [{ id: "call_0", name: "read", text: "x" }],
};
const LOOKED: Reply = {
  text: "I looked at the settings of the shop and found seven odd lines in one file.",
  ...{ thinking: "They are odd.", calls: [] },
};

it.each(Object.keys(DOOR_WIRES) as DoorApi[])(
  "goes on in the session of the newest reply, by %s, though ids count up",
  (api) => {
    const door = new PlayedDoor();
    const send = (said: readonly Said[], reply: Reply) => {
      const request = writeRequest(api, said, { model: "m", head: ["Be brief."], tools: ["read"] });
      const handled = door.request(api, { request, headers: {} });
      door.reply(handled, reply);
      return handled;
    };
    const { session } = send([person("Look at it.")], CALLED);
    const history = [told(CALLED), RESULT, person("And?")];
    send([person("Look at it."), ...history], LOOKED);
    const next = [person("Look at it, please."), ...history, told(LOOKED), person("Mend it.")];
    const { match } = send(next, LOOKED);
    expect(match).toMatchObject({ session, by: "words" });
  },
);
