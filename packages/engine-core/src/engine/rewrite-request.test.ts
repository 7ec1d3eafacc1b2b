import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { takeRewriteRequest } from "./rewrite-request.ts";

describe("a rewrite an engine asks for", () => {
  it("is taken as plain data", () => {
    const message = user("shorter");
    const request = { replacements: [{ entryId: "e1", message }] };
    const taken = takeRewriteRequest(request);
    expect(taken).toEqual(request);
    expect(taken.replacements[0]!.message).not.toBe(message);
  });

  const wrong: [unknown, string][] = [
    [undefined, "expected an object (got nothing)"],
    [{ replacements: {} }, "replacements is an object; expected a list"],
    [{ replacements: new Array(1) }, "replacements[0] is missing; expected an object"],
    [{ replacements: [{ entryId: 1, message: user("x") }] }, "replacements[0].entryId is a number"],
    [
      { replacements: [{ entryId: "e", message: { role: "banana" } }] },
      'replacements[0].message.role is "banana"',
    ],
    [
      { replacements: [{ entryId: "e", message: { role: "user", content: null } }] },
      "replacements[0].message.content is null",
    ],
    [{ replacements: [], allowedRewriteSuffixEntryIds: "e" }, "allowedRewriteSuffixEntryIds is "],
  ];
  it.each(wrong)("is refused by field: %#", (request, problem) => {
    expect(() => takeRewriteRequest(request)).toThrow(problem);
  });
});
