// What a reader's browser makes of HTML reports. Each is opened at the width of a phone and of a desktop, light and dark:
// no violation of axe-core's rules (contrast included), no message on the console, no request, nothing wider than the
// window, no text of a plot outside it or over another; then it is walked through with the keyboard, and printed.
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.MODULES, "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const arguments_ = process.argv.slice(2);
let pictures = null;
if (arguments_[0] === "-o") {
  pictures = arguments_[1];
  arguments_.splice(0, 2);
  mkdirSync(pictures, { recursive: true });
}
if (!arguments_.length) {
  console.error("usage: check_report.sh [-o SCREENSHOT_DIR] REPORT.html...");
  process.exit(2);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
let faults = 0;
function fault(where, what) {
  faults += 1;
  console.log(`FAULT ${where}: ${what}`);
}

// Texts of one plot that touch each other, and texts beyond its edge.
function crowded() {
  const found = [];
  for (const plot of document.querySelectorAll("figure svg")) {
    const frame = plot.getBoundingClientRect();
    const texts = [...plot.querySelectorAll("text")].map((node) => [node.textContent, node.getBoundingClientRect()]);
    texts.forEach(([words, box], place) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1 || box.top < frame.top - 1)
        found.push(`"${words}" leaves the plot ${plot.querySelector("title").textContent}`);
      for (const [other, second] of texts.slice(place + 1))
        if (box.left < second.right && second.left < box.right && box.top + 3 < second.bottom && second.top + 3 < box.bottom)
          found.push(`"${words}" lies on "${other}" in ${plot.querySelector("title").textContent}`);
    });
  }
  return found;
}

for (const file of arguments_) {
  const address = pathToFileURL(resolve(file)).href;
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of ["light", "dark"]) {
      const where = `${basename(file)} ${size} ${colorScheme}`;
      const context = await browser.newContext({ viewport, colorScheme });
      const page = await context.newPage();
      page.on("console", (message) => fault(where, `console: ${message.text()}`));
      page.on("pageerror", (error) => fault(where, `script: ${error}`));
      page.on("request", (request) => {
        if (request.url() !== address && request.url() !== "data:,") fault(where, `request: ${request.url()}`);
      });
      await page.goto(address);
      await page.waitForTimeout(200);
      if (pictures) {
        const name = join(pictures, `${basename(file, ".html")}-${size}-${colorScheme}`);
        await page.screenshot({ path: `${name}.png` });
        await page.screenshot({ path: `${name}-whole.png`, fullPage: true });
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (wide > 0) fault(where, `the page is ${wide} px wider than the window`);
      for (const words of await page.evaluate(crowded)) fault(where, words);
      await page.evaluate(() => document.querySelectorAll("details").forEach((node) => (node.open = true)));
      const opened = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      if (opened > 0) fault(where, `with its tables open the page is ${opened} px wider than the window`);
      // Evaluated by the debugger, which the page's own policy against scripts does not concern.
      await page.evaluate(axe);
      const result = await page.evaluate(() =>
        window.axe.run(document, {
          runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
        }),
      );
      // Cells that a table has scrolled out of view are judged once it is laid out whole. Texts of plots axe leaves
      // undecided; tests/benchmark/test_report.py computes the contrast of the palette.
      await page.addStyleTag({ content: ".scroll { overflow: visible !important; }" });
      const whole = await page.evaluate(() => window.axe.run(document, { runOnly: ["color-contrast"] }));
      result.violations.push(...whole.violations);
      result.incomplete = [...result.incomplete.filter((rule) => rule.id !== "color-contrast"), ...whole.incomplete];
      for (const violation of result.violations)
        for (const node of violation.nodes) fault(where, `axe ${violation.id}: ${violation.help}: ${node.html.slice(0, 160)}`);
      console.log(
        `${where}: axe ${result.violations.length} violations, ${result.passes.length} rules passed, ` +
          `${result.incomplete.length} undecided${result.incomplete.length ? ` (${result.incomplete.map((r) => `${r.id} ${r.nodes.length}`).join(", ")})` : ""}`,
      );
      await context.close();
    }
  }
  await keyboard(file, address);
}

// Tab reaches every link, every table that scrolls and every summary, in the order of the page; Enter opens a summary.
async function keyboard(file, address) {
  const where = `${basename(file)} keyboard`;
  const context = await browser.newContext({ viewport: SIZES.phone });
  const page = await context.newPage();
  await page.goto(address);
  const expected = await page.evaluate(() =>
    [...document.querySelectorAll("a[href], [tabindex='0'], summary")].filter((node) => node.checkVisibility()).length,
  );
  let reached = 0;
  let opened = 0;
  for (; reached < expected; reached += 1) {
    await page.keyboard.press("Tab");
    const focus = await page.evaluate(() => {
      const node = document.activeElement;
      return { name: node.tagName, seen: getComputedStyle(node).outlineStyle !== "none", closed: node.tagName === "SUMMARY" && !node.parentNode.open };
    });
    if (focus.name === "BODY") break;
    if (!focus.seen) fault(where, `no visible focus on ${focus.name}`);
    if (focus.closed) {
      await page.keyboard.press("Enter");
      if (await page.evaluate(() => document.activeElement.parentNode.open)) opened += 1;
      else fault(where, "Enter opens no table");
      await page.keyboard.press("Enter");
    }
  }
  if (reached !== expected) fault(where, `Tab reaches ${reached} of ${expected} places`);
  console.log(`${where}: Tab reaches ${reached} of ${expected} places, Enter opens ${opened} tables`);
  if (pictures) await page.pdf({ path: join(pictures, `${basename(file, ".html")}.pdf`), format: "A4" });
  await context.close();
}

await browser.close();
console.log(faults ? `${faults} faults` : "no faults");
process.exit(faults ? 1 : 0);
