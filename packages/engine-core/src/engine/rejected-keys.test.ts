import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { rejectedKeys } from "./rejected-keys.ts";

const rejects = (error: unknown, key: string) => rejectedKeys(error).has(key);

const zodError = (value: unknown, schema: z.ZodType) => schema.safeParse(value).error;
const coded = (fields: object) => Object.assign(new Error("validation failed"), fields);

describe("a rejected parameter is recognised", () => {
  const errors: [string, unknown][] = [
    ["zod", zodError({ prompt: 1 }, z.strictObject({}))],
    ["zod, a level down", zodError({ prompt: { x: 1 } }, z.object({ prompt: z.strictObject({}) }))],
    ["zod's JSON", new Error('[{"code":"unrecognized_keys","keys":["prompt"]}]')],
    ["zod's text", new Error('Unrecognized key(s) in object: "sessionKey", "prompt"')],
    ["zod 3's text", new Error("Unrecognized key(s) in object: 'prompt'")],
    ["a cause", new Error("outer", { cause: zodError({ prompt: 1 }, z.strictObject({})) })],
    ["issues", { issues: [{ code: "unrecognized_keys", keys: ["prompt"] }] }],
    [
      "Ajv",
      coded({
        errors: [
          {
            keyword: "additionalProperties",
            instancePath: "",
            params: { additionalProperty: "prompt" },
            message: "must NOT have additional properties",
          },
        ],
      }),
    ],
    [
      "Ajv, thrown as a list",
      [
        {
          keyword: "unevaluatedProperties",
          instancePath: "",
          params: { unevaluatedProperty: "prompt" },
          message: "must NOT have unevaluated properties",
        },
      ],
    ],
    [
      "Ajv, a level down",
      coded({
        errors: [
          {
            keyword: "additionalProperties",
            instancePath: "/prompt/inner",
            params: { additionalProperty: "x" },
          },
        ],
      }),
    ],
    [
      "Ajv 6",
      coded({
        errors: [
          {
            keyword: "additionalProperties",
            dataPath: "",
            params: { additionalProperty: "prompt" },
          },
        ],
      }),
    ],
    ["Ajv's JSON", new Error('[{"params":{"additionalProperty":"prompt"}}]')],
    ["Ajv's text", new Error("data must NOT have additional properties: 'prompt'")],
    ["TypeBox", coded({ errors: [{ type: 21, path: "/prompt", message: "Unexpected property" }] })],
    ["TypeBox's assert", coded({ error: { path: "/prompt", message: "Unexpected property" } })],
    [
      "TypeBox 1",
      coded({
        errors: [
          {
            keyword: "additionalProperties",
            instancePath: "",
            params: { additionalProperties: ["prompt", "model"] },
          },
        ],
      }),
    ],
    [
      "valibot",
      coded({
        issues: [
          {
            kind: "schema",
            type: "strict_object",
            expected: "never",
            received: '"prompt"',
            message: 'Invalid key: Expected never but received "prompt"',
            path: [{ type: "object", origin: "key", key: "prompt", value: 1 }],
          },
        ],
      }),
    ],
    ["valibot's text", new Error('Invalid key: Expected never but received "prompt"')],
    [
      "valibot's flattened issues",
      new Error(
        JSON.stringify({
          nested: { prompt: ['Invalid key: Expected never but received "prompt"'] },
        }),
      ),
    ],
    ["TypeBox's text", new Error("/prompt: Unexpected property")],
    ["TypeBox's text in a sentence", new Error("bad params (/prompt: Unexpected property)")],
    ["joi", coded({ details: [{ type: "object.unknown", path: ["prompt"] }] })],
    ["joi's text", new Error('"prompt" is not allowed')],
    ["yup", coded({ type: "noUnknown", params: { unknown: "model, prompt" } })],
    ["superstruct", coded({ type: "never", path: ["prompt"], key: "prompt" })],
    ["arktype", new Error("prompt must be removed")],
    ["plain words", new Error("Unexpected property `prompt`")],
    ["plain words, a list", new Error("unknown parameters: model, prompt")],
    ["plain words, an argument", new Error("got an unexpected keyword argument 'prompt'")],
    ["a string", "unsupported option: prompt"],
  ];
  it.each(errors)("of %s", (_, error) => {
    expect(rejects(error, "prompt")).toBe(true);
    expect(rejects(error, "runtimeSettings")).toBe(false);
  });

  it("by its structured issues alone, where there are any", () => {
    const error = Object.assign(new Error('Unrecognized keys: "prompt" or the like'), {
      issues: [{ code: "unrecognized_keys", keys: ["sessionKey"] }],
    });
    expect(rejects(error, "sessionKey")).toBe(true);
    expect(rejects(error, "prompt")).toBe(false);
  });

  it("but not in an error that merely mentions it, or in a cyclic one", () => {
    const cyclic = new Error("loop");
    cyclic.cause = cyclic;
    const others = [
      new Error('the "prompt" was too long'),
      new Error("unknown property of the engine; see the prompt"),
      zodError({ prompt: 1 }, z.object({ prompt: z.string() })),
      cyclic,
    ];
    expect(others.filter((error) => rejects(error, "prompt"))).toEqual([]);
  });

  it("in whatever was thrown, without a throw of its own", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(rejectedKeys({ cause: proxy })).toEqual(new Set());
    fc.assert(fc.property(fc.anything(), (thrown) => void rejectedKeys(thrown)));
  });
});
