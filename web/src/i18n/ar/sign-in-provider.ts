/** Arabic texts for the sign-in provider. */
import type { signInProvider as en } from "../en/sign-in-provider.ts";
import type { Entry } from "../index.svelte.ts";

export const signInProvider: Record<keyof typeof en, Entry> = {
  "signInProvider.title": "مزوّد تسجيل الدخول",
  "signInProvider.intro": "يتيح تسجيل الدخول بحساب موجود عبر OpenID Connect. وتبقى كلمات المرور صالحة.",
  "signInProvider.setUp": "إعداد",
  "signInProvider.setUpTitle": "إعداد مزوّد تسجيل الدخول",
  "signInProvider.editTitle": "تعديل مزوّد تسجيل الدخول",
  "signInProvider.clientIdOf": "معرّف العميل: {id}",
  "signInProvider.preset": "المزوّد",
  "signInProvider.other": "آخر",
  "signInProvider.hint.entra":
    "لا يضع Entra ID المجموعات في الرمز المميز إذا بلغت 201 أو أكثر. في هذه الحالة اضبط عنوان المجموعات في «خيارات متقدمة».",
  "signInProvider.hint.google": "لا يرسل Google المجموعات.",
  "signInProvider.hint.keycloak": "يرسل Keycloak كل مجموعات الشخص.",
  "signInProvider.hint.okta":
    "يفشل تسجيل الدخول في Okta إذا طابقت مطالبةَ المجموعات أكثر من 100 مجموعة: صفِّها هناك.",
  "signInProvider.hint.authentik":
    "يرسل authentik كل مجموعات الشخص. والشرطة المائلة في النهاية جزء من جهة الإصدار.",
  "signInProvider.redirect": "عنوان إعادة التوجيه",
  "signInProvider.redirectHint": "سجّله لدى المزوّد لعميل ويب سري.",
  "signInProvider.issuer": "جهة الإصدار (issuer)",
  "signInProvider.issuerHint": "كما يكتبها المزوّد تمامًا.",
  "signInProvider.placeholder": "استبدل {text} بالقيمة الخاصة بك.",
  "signInProvider.clientId": "معرّف العميل",
  "signInProvider.clientSecret": "سر العميل",
  "signInProvider.secretHint": "اتركه فارغًا للعميل العام.",
  "signInProvider.secretMoved": "لا يُرسَل السر المحفوظ إلى مضيف آخر. أدخل سر هذا المزوّد.",
  "signInProvider.removeSecret": "إزالة سر العميل المحفوظ",
  "signInProvider.name": "الاسم على الزر",
  "signInProvider.advanced": "خيارات متقدمة",
  "signInProvider.scopes": "النطاقات",
  "signInProvider.scopesHint": "مفصولة بمسافات. لا يرسل بعض المزوّدين المجموعات إلا مع النطاق groups.",
  "signInProvider.groupsClaim": "مطالبة المجموعات (claim)",
  "signInProvider.groupsClaimHint": "تقود النقطة إلى مطالبة متداخلة: realm_access.roles.",
  "signInProvider.groupsUrl": "عنوان المجموعات",
  "signInProvider.groupsUrlHint":
    "تُطلب منه المجموعات التي لا يحتويها الرمز المميز. ويحتاج Entra ID أيضًا إلى النطاقين User.Read وGroupMember.Read.All.",
  "signInProvider.adminGroups": "مجموعات المشرفين",
  "signInProvider.adminGroupsHint":
    "واحدة في كل سطر. عند كل تسجيل دخول يصبح أعضاؤها مشرفين ويصبح الآخرون مستخدمين عاديين. اتركها فارغة لاختيار المشرفين هنا.",
  "signInProvider.allowedGroups": "المجموعات المسموح بها",
  "signInProvider.allowedGroupsHint":
    "واحدة في كل سطر. لا يسجّل الدخول إلا أعضاؤها وأعضاء مجموعات المشرفين. اتركها فارغة لقبول كل من لدى المزوّد.",
  "signInProvider.createAccounts": "إنشاء الحسابات عند أول تسجيل دخول",
  "signInProvider.createAccountsHint": "وإلا فيضيف المشرفون الأشخاص أولًا.",
  "signInProvider.linkByEmail": "ربط الحسابات الموجودة بالبريد الإلكتروني",
  "signInProvider.linkByEmailHint":
    "فقط مع المزوّدين الذين يتحققون من العناوين: فمن يحصل على عنوان هناك يحصل على الحساب.",
  "signInProvider.newIssuer":
    "يُعرف كل شخص بمعرّفه لدى جهة الإصدار هذه. ولدى جهة أخرى يُعدّ شخصًا جديدًا ما لم تُربط الحسابات بالبريد الإلكتروني.",
  "signInProvider.works": "يعمل. يجري تسجيل الدخول على {host}.",
  "signInProvider.turnOff": "إيقاف",
  "signInProvider.turnOffTitle": "إيقاف مزوّد تسجيل الدخول",
  "signInProvider.turnOffStay": "يبقى من سجّل دخوله متصلًا حتى تنتهي جلسته.",
  "signInProvider.turnOffWho":
    "بعد ذلك لا يمكن لمن ليست لديه كلمة مرور ولا مفتاح مرور أن يسجّل الدخول. لمنح شخص كلمة مرور، اختر «إعادة تعيين كلمة المرور» من الإجراءات الخاصة به.",
  "signInProvider.turnOffYou": "ليس لديك أنت أي منهما. أنشئ رابطًا لنفسك أولًا.",
  "signInProvider.turnedOff": "أُوقف مزوّد تسجيل الدخول",
};
