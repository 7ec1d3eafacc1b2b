// Answers a person's browser with a page of one sentence, where a program gets JSON.
import type { Context } from "hono";
import { html } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import { PAGE_HEADERS } from "./page.ts";

/** True: somebody typed the address or followed a link, and looks at what comes. */
export const isLookedAt = ({ req }: Context): boolean =>
  req.method === "GET" && (req.header("accept") ?? "").includes("text/html");

export const sentencePage = async (
  context: Context,
  status: 401 | 403,
  sentence: string,
): Promise<Response> => context.html(pageOf(sentence), status, PAGE_HEADERS);

const pageOf = (sentence: string): HtmlEscapedString | Promise<HtmlEscapedString> =>
  html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Clew</title><p>${sentence}</p></html>`;
