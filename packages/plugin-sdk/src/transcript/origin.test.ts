import { describe, expect, it } from "vitest";
import { user } from "../testing/messages.ts";
import type { TranscriptEntry } from "./entries.ts";
import { originsOf, placeEntry, withOrigin } from "./origin.ts";

const at = (id: string) => ({ id, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" });
const message = (id: string, origin?: string): TranscriptEntry => ({
  ...at(id),
  type: "message",
  message: user("q", origin === undefined ? {} : { __openclaw: { id: origin } }),
});
const note = (id: string): TranscriptEntry => ({
  ...at(id),
  type: "custom_message",
  customType: "n",
  content: "c",
});
const origins = (...entries: TranscriptEntry[]) => [...originsOf(entries).values()];

describe("placeEntry", () => {
  it("gives a message that has no id its entry's, and leaves one that has", () => {
    const fresh = placeEntry({ type: "message", message: user("q") }, at("e1"));
    expect(fresh).toMatchObject({ ...at("e1"), message: { __openclaw: { id: "e1" } } });
    const said = user("q", { __openclaw: { id: "e0", runId: "r" } });
    expect(placeEntry({ type: "message", message: said }, at("e1"))).toMatchObject({
      message: { __openclaw: { id: "e0", runId: "r" } },
    });
  });

  it("changes nothing else, and not what it was given", () => {
    const given = user("q");
    placeEntry({ type: "message", message: given }, at("e1"));
    expect(given).toEqual(user("q"));
    expect(placeEntry({ type: "label", targetId: "e0" }, at("e1"))).toEqual({
      ...at("e1"),
      type: "label",
      targetId: "e0",
    });
  });
});

describe("originsOf", () => {
  it("names the entry itself when nothing says otherwise", () => {
    expect(origins(message("e1"), note("e2"))).toEqual(["e1", "e2"]);
  });

  it("is still the first entry after entries were appended again under other ids", () => {
    const again = [message("e1"), note("e2")].map((entry) => ({
      ...withOrigin(entry, entry.id),
      id: `${entry.id}-again`,
    }));
    const moved = again.map((entry, index) => withOrigin(entry, `e${index + 1}`));
    expect(origins(...moved)).toEqual(["e1", "e2"]);
    expect(moved[0]).not.toHaveProperty("__openclaw");
    expect(moved[1]).toMatchObject({ __openclaw: { id: "e2" } });
  });

  it("lets the later of two entries that claim one origin fall back to itself", () => {
    expect(origins(message("e1", "x"), message("e2", "x"), note("x"))).toEqual(["x", "e2", "x~"]);
  });
});

describe("withOrigin", () => {
  it("gives the very entry when it says so already", () => {
    const moved = withOrigin(message("e1"), "e0");
    expect(withOrigin(moved, "e0")).toBe(moved);
    const own = note("e1");
    expect(withOrigin(own, "e1")).toBe(own);
  });
});
