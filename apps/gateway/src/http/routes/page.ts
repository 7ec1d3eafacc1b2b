// Serves the page at every address that is not the API's, and the link that opens it.
import type { Context, Hono } from "hono";
import type { Callers } from "../access/caller.ts";
import { refuse } from "../errors.ts";
import { PAGE_HEADERS, type PageFile } from "../page.ts";
import { isLookedAt, sentencePage } from "../sentence-page.ts";

export function addPageRoute(app: Hono, page: ReadonlyMap<string, PageFile>): void {
  app.get("*", (context) => {
    const file = page.get(context.req.path);
    if (file !== undefined)
      return context.body(file.bytes, 200, { ...PAGE_HEADERS, "content-type": file.type });
    if (context.req.path === "/")
      return context.text("Clew is running. The page is not built; the API is at /api/health.\n");
    return context.notFound();
  });
}

/** `onWrongKey`: somebody may be guessing. */
export function addLinkRoute(
  app: Hono,
  { callers, onWrongKey }: { callers: Callers; onWrongKey: (context: Context) => void },
): void {
  app.get("/open/:key", (context) => {
    if (callers.trustBrowser(context, context.req.param("key")))
      // Where the link stood on another site's page, a redirect would bring no cookie along.
      return context.html(GO_ON, 200, PAGE_HEADERS);
    onWrongKey(context);
    return isLookedAt(context)
      ? sentencePage(context, 403, WRONG_LINK)
      : refuse(context, "FORBIDDEN", WRONG_LINK);
  });
}

const GO_ON = `<!doctype html><meta charset="utf-8"><link rel="icon" href="/icon.svg"><meta http-equiv="refresh" content="0;url=/"><title>Clew</title><p><a href="/">Go on to the page</a></p>`;
const WRONG_LINK =
  "This link is of another start of the gateway, or of another gateway; clew approvals link prints the one that works now.";
