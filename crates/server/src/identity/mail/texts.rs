//! The texts of mails, in the languages of the web app.

/// A mail without its recipient.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MailText {
    pub(crate) subject: String,
    pub(crate) body: String,
}

/// A language of the web app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MailLanguage {
    Arabic,
    Chinese,
    English,
    French,
    German,
    Japanese,
    Portuguese,
    Russian,
    Spanish,
}

impl MailLanguage {
    /// The language of a tag such as `pt-BR`; English if it is another.
    pub(crate) fn of(tag: &str) -> Self {
        match tag.split('-').next().unwrap_or_default() {
            "ar" => Self::Arabic,
            "zh" => Self::Chinese,
            "fr" => Self::French,
            "de" => Self::German,
            "ja" => Self::Japanese,
            "pt" => Self::Portuguese,
            "ru" => Self::Russian,
            "es" => Self::Spanish,
            _ => Self::English,
        }
    }
}

impl MailText {
    /// The invitation to create an account with a link that is valid until this day.
    pub(crate) fn invitation(
        language: MailLanguage,
        inviter: &str,
        link: &str,
        until: &str,
    ) -> Self {
        let (subject, first, create, valid, unexpected) = match language {
            MailLanguage::English => (
                "Your invitation to Glasshouse",
                format!("{inviter} invites you to Glasshouse, a workspace for AI agents."),
                "Create your account:",
                format!("The link works once, until {until}."),
                "If you did not expect this mail, ignore it.",
            ),
            MailLanguage::German => (
                "Ihre Einladung zu Glasshouse",
                format!(
                    "{inviter} lädt Sie zu Glasshouse ein, einem Arbeitsbereich für KI-Agenten."
                ),
                "Konto erstellen:",
                format!("Der Link funktioniert einmal, bis {until}."),
                "Falls Sie diese E-Mail nicht erwartet haben, ignorieren Sie sie bitte.",
            ),
            MailLanguage::French => (
                "Votre invitation à Glasshouse",
                format!(
                    "{inviter} vous invite à rejoindre Glasshouse, un espace de travail pour agents d’IA."
                ),
                "Créez votre compte :",
                format!("Le lien est à usage unique et reste valable jusqu’au {until}."),
                "Si vous n’attendiez pas cet e-mail, ignorez-le.",
            ),
            MailLanguage::Spanish => (
                "Tu invitación a Glasshouse",
                format!(
                    "{inviter} te invita a Glasshouse, un espacio de trabajo para agentes de IA."
                ),
                "Crea tu cuenta:",
                format!("El enlace funciona una sola vez, hasta el {until}."),
                "Si no esperabas este correo, ignóralo.",
            ),
            MailLanguage::Portuguese => (
                "Seu convite para o Glasshouse",
                format!(
                    "{inviter} convidou você para o Glasshouse, um espaço de trabalho para agentes de IA."
                ),
                "Crie sua conta:",
                format!("O link funciona uma única vez, até {until}."),
                "Se você não esperava este e-mail, ignore-o.",
            ),
            MailLanguage::Russian => (
                "Приглашение в Glasshouse",
                format!(
                    "{inviter} приглашает вас в Glasshouse — рабочее пространство для ИИ-агентов."
                ),
                "Создать аккаунт:",
                format!("Ссылка одноразовая и действует до {until}."),
                "Если вы не ждали этого письма, просто не обращайте на него внимания.",
            ),
            MailLanguage::Arabic => (
                "دعوتك إلى Glasshouse",
                format!("يدعوك {inviter} إلى Glasshouse، مساحة عمل لوكلاء الذكاء الاصطناعي."),
                "أنشئ حسابك:",
                format!("يعمل الرابط مرة واحدة، حتى {until}."),
                "إذا لم تكن تتوقع هذه الرسالة فتجاهلها.",
            ),
            MailLanguage::Chinese => (
                "邀请你加入 Glasshouse",
                format!("{inviter} 邀请你加入 Glasshouse，一个 AI 智能体工作空间。"),
                "创建账号：",
                format!("该链接只能使用一次，有效期至 {until}。"),
                "如果你没有预料到这封邮件，请忽略它。",
            ),
            MailLanguage::Japanese => (
                "Glasshouse への招待",
                format!(
                    "{inviter} さんが、AI エージェントのワークスペース Glasshouse に招待しています。"
                ),
                "アカウントの作成:",
                format!("リンクは 1 回だけ使えます。有効期限は {until} です。"),
                "このメールに心当たりがない場合は、破棄してください。",
            ),
        };
        Self {
            subject: subject.to_owned(),
            body: format!("{first}\n\n{create}\n{link}\n\n{valid}\n{unexpected}\n"),
        }
    }

    /// The link with which a person who asked for it chooses a new password, within this number of hours.
    pub(crate) fn password_reset(language: MailLanguage, link: &str, hours: i64) -> Self {
        let (subject, choose, valid, unexpected) = match language {
            MailLanguage::English => (
                "Reset your Glasshouse password",
                "Choose a new password for your account:",
                format!("The link works once, for {hours} hours."),
                "If you did not ask for this, ignore this mail: your password stays as it is.",
            ),
            MailLanguage::German => (
                "Glasshouse-Passwort zurücksetzen",
                "Neues Passwort für Ihr Konto wählen:",
                format!("Der Link funktioniert einmal und ist {hours} Stunden gültig."),
                "Falls Sie das nicht angefordert haben, ignorieren Sie diese E-Mail: Ihr Passwort bleibt unverändert.",
            ),
            MailLanguage::French => (
                "Réinitialisation de votre mot de passe Glasshouse",
                "Choisissez un nouveau mot de passe pour votre compte :",
                format!("Le lien est à usage unique et reste valable {hours} heures."),
                "Si vous n’êtes pas à l’origine de cette demande, ignorez cet e-mail : votre mot de passe reste inchangé.",
            ),
            MailLanguage::Spanish => (
                "Restablece tu contraseña de Glasshouse",
                "Elige una contraseña nueva para tu cuenta:",
                format!("El enlace funciona una sola vez, durante {hours} horas."),
                "Si no lo has pedido tú, ignora este correo: tu contraseña no cambia.",
            ),
            MailLanguage::Portuguese => (
                "Redefina sua senha do Glasshouse",
                "Escolha uma nova senha para sua conta:",
                format!("O link funciona uma única vez, por {hours} horas."),
                "Se não foi você que pediu, ignore este e-mail: sua senha continua a mesma.",
            ),
            MailLanguage::Russian => (
                "Сброс пароля в Glasshouse",
                "Задайте новый пароль для своего аккаунта:",
                format!("Ссылка одноразовая и действует {hours} часов."),
                "Если вы этого не запрашивали, не обращайте внимания на письмо: пароль останется прежним.",
            ),
            MailLanguage::Arabic => (
                "إعادة تعيين كلمة مرور Glasshouse",
                "اختر كلمة مرور جديدة لحسابك:",
                format!("يعمل الرابط مرة واحدة، خلال {hours} ساعات."),
                "إذا لم تطلب ذلك فتجاهل هذه الرسالة، وستبقى كلمة مرورك كما هي.",
            ),
            MailLanguage::Chinese => (
                "重置你的 Glasshouse 密码",
                "为你的账号设置新密码：",
                format!("该链接只能使用一次，{hours} 小时内有效。"),
                "如果这不是你本人的请求，请忽略此邮件，你的密码不会改变。",
            ),
            MailLanguage::Japanese => (
                "Glasshouse のパスワードの再設定",
                "アカウントの新しいパスワードを設定してください:",
                format!("リンクは 1 回だけ使えます。有効期限は {hours} 時間です。"),
                "心当たりがない場合は、このメールを破棄してください。パスワードは変わりません。",
            ),
        };
        Self {
            subject: subject.to_owned(),
            body: format!("{choose}\n{link}\n\n{valid}\n{unexpected}\n"),
        }
    }

    /// The mail with which an administrator tests the settings.
    pub(crate) fn test(language: MailLanguage) -> Self {
        let (subject, body) = match language {
            MailLanguage::English => ("Test mail from Glasshouse", "Glasshouse can send mail."),
            MailLanguage::German => (
                "Test-E-Mail von Glasshouse",
                "Glasshouse kann E-Mails versenden.",
            ),
            MailLanguage::French => (
                "E-mail de test de Glasshouse",
                "Glasshouse peut envoyer des e-mails.",
            ),
            MailLanguage::Spanish => (
                "Correo de prueba de Glasshouse",
                "Glasshouse puede enviar correos.",
            ),
            MailLanguage::Portuguese => (
                "E-mail de teste do Glasshouse",
                "O Glasshouse consegue enviar e-mails.",
            ),
            MailLanguage::Russian => (
                "Тестовое письмо от Glasshouse",
                "Glasshouse может отправлять почту.",
            ),
            MailLanguage::Arabic => (
                "رسالة تجريبية من Glasshouse",
                "يستطيع Glasshouse إرسال البريد.",
            ),
            MailLanguage::Chinese => ("来自 Glasshouse 的测试邮件", "Glasshouse 可以发送邮件。"),
            MailLanguage::Japanese => (
                "Glasshouse からのテストメール",
                "Glasshouse からメールを送信できます。",
            ),
        };
        Self {
            subject: subject.to_owned(),
            body: format!("{body}\n"),
        }
    }
}
