// biome-ignore-all lint/suspicious/noTemplateCurlyInString: settings name variables that way.
import { describe, expect, it } from "vitest";
import { checkConfigText } from "../config/load.ts";
import { planStorage } from "./plan-storage.ts";

const plan = (settings: object, variables: Record<string, string> = {}) =>
  planStorage(checkConfigText(JSON.stringify(settings), "clew.json").config, {
    variable: (name) => variables[name],
  });
const door = { enabled: false };
const url = "postgres://ann:hush@db/clew";

describe("where sessions are kept", () => {
  it("is files, unless the settings say otherwise, whatever the variable says", () => {
    expect(plan({}, { CLEW_STORAGE_URL: url })).toEqual({ kind: "files" });
  });

  it("is the database of the settings, else of the variable", () => {
    const storage = { driver: "postgres", connections: 4 };
    const expected = { kind: "postgres", url, connections: 4 };
    expect(plan({ door, storage: { ...storage, url } })).toEqual(expected);
    expect(plan({ door, storage }, { CLEW_STORAGE_URL: url })).toEqual(expected);
    const named = { ...storage, url: "postgres://ann:${SECRET}@db/clew" };
    expect(plan({ door, storage: named }, { SECRET: "hush" })).toEqual(expected);
  });

  it.each([
    ["nobody says where it is", { door, storage: { driver: "postgres" } }, /CLEW_STORAGE_URL/],
    [
      "a variable is not set",
      { door, storage: { driver: "postgres", url: "postgres://${WHO}@db/clew" } },
      /WHO, which is not set/,
    ],
  ])("is refused in one sentence where %s", (_why, settings, sentence) => {
    const { kind, problems } = plan(settings) as { kind: string; problems: string[] };
    expect(kind).toBe("refused");
    expect(problems).toEqual([expect.stringMatching(sentence)]);
    expect(problems.join()).not.toContain("hush");
  });

  it("needs two connections", () => {
    expect(() => plan({ door, storage: { driver: "postgres", url, connections: 1 } })).toThrow(
      "storage.connections: must be 2 at least",
    );
  });
});
