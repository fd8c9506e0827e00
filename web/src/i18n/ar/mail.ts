/** Arabic texts for the mail server. */
import type { mail as en } from "../en/mail.ts";
import type { Entry } from "../index.svelte.ts";

export const mail: Record<keyof typeof en, Entry> = {
  "settings.mail": "البريد",
  "mail.intro": "تُرسل الدعوات وروابط إعادة تعيين كلمات المرور عبر خادم البريد الخاص بك باستخدام SMTP.",
  "mail.server": "خادم البريد",
  "mail.serverHint": "المنفذ المستخدم هو {port}. لاستخدام منفذ آخر أضفه هكذا: {example}",
  "mail.serverProblem": "أدخل اسم مضيف مثل smtp.example.org، مع منفذ أو بدونه.",
  "mail.security": "التشفير",
  "mail.security.starttls": "STARTTLS",
  "mail.security.tls": "TLS",
  "mail.security.none": "بدون تشفير",
  "mail.clearText":
    "تُرسل كلمة المرور والروابط دون تشفير. استخدم هذا فقط مع خادم على الجهاز نفسه أو الشبكة نفسها.",
  "mail.user": "اسم المستخدم",
  "mail.userHint": "اتركه فارغًا إذا كان الخادم لا يتطلب تسجيل الدخول.",
  "mail.passwordProblem": "أدخل كلمة مرور هذا المستخدم.",
  "mail.from": "المرسِل",
  "mail.fromHint": "عنوان بريد إلكتروني، مع اسم أو بدونه.",
  "mail.fromProblem": "أدخل عنوانًا مثل ai@example.org أو Glasshouse <ai@example.org>.",
  "mail.test": "إرسال رسالة تجريبية",
  "mail.testing": "جارٍ الإرسال…",
  "mail.tested": "أُرسلت رسالة تجريبية إلى {email}. تأكد من وصولها.",
  "mail.turnOff": "إيقاف",
  "mail.turnedOff": "أُوقف البريد",
};
