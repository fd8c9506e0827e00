/** Which files are attached as images, audio and video, and their size limits. */
import { expect, test } from "vitest";
import { isDocument, kindOf, maxMediumBytes, readPicture } from "./pictures.ts";

test("sounds and films go along as such, documents do not", () => {
  expect(kindOf({ type: "image/png" })).toBe("image");
  expect(kindOf({ type: "audio/mpeg" })).toBe("audio");
  expect(kindOf({ type: "video/mp4" })).toBe("video");
  expect(kindOf({ type: "audio/x-m4a" })).toBe("audio");
  expect(kindOf({ type: "video/mp2t" }), "TypeScript").toBeUndefined();
  expect(kindOf({ type: "audio/x-mpegurl" })).toBeUndefined();
  expect(kindOf({ type: "image/svg+xml" })).toBeUndefined();
  expect(kindOf({ type: "application/pdf" })).toBeUndefined();
  expect(kindOf({ type: "" })).toBeUndefined();
});

test("a sound is read whole, and one that is too large is not", async () => {
  const sound = await readPicture(new File(["RIFF"], "a.wav", { type: "audio/wav" }));
  expect(sound).toMatchObject({ kind: "audio", name: "a.wav", url: "data:audio/wav;base64,UklGRg==" });
  const large = new File([new Uint8Array(maxMediumBytes + 1)], "b.mp4", { type: "video/mp4" });
  expect(await readPicture(large)).toBe("composer.mediumTooLarge");
});

test("recordings are attached as documents if they are transcribed, films only if they are too large for a model", () => {
  const files = ["audio/mpeg", "video/mp4", "image/png"].map((type) => ({ type, size: 10 }));
  files.push({ type: "video/mp4", size: 8_000_000 });
  expect(files.map((file) => isDocument(file, false))).toEqual([false, false, false, false]);
  expect(files.map((file) => isDocument(file, true))).toEqual([true, false, false, true]);
  expect(isDocument({ type: "application/pdf", size: 10 }, false)).toBe(true);
});
