import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.AttributeType.Hierarchy;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.EqualDistanceTCloseness;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.criteria.RecursiveCLDiversity;
import org.deidentifier.arx.metric.Metric;

/**
 * One level per column by ARX: those with the least loss, no row suppressed.
 *
 * Recursive (1 / (l - 1), 2)-diversity bounds the share of a sensitive value by 1 / l.
 */
public class Run {

    public static void main(String[] given) throws Exception {
        String task = Files.readString(Path.of(given[1]));
        String sensitive = texts(task, "sensitive").get(0);
        Data data = Data.create(given[0], StandardCharsets.UTF_8, ',');
        data.getDefinition().setAttributeType(sensitive, texts(task, "promise").size() > 1
                ? AttributeType.SENSITIVE_ATTRIBUTE : AttributeType.INSENSITIVE_ATTRIBUTE);
        List<String> names = texts(task, "quasi_identifiers");
        List<String> pairs = texts(task, "hierarchies");
        for (String name : names) {
            String file = pairs.get(pairs.indexOf(name) + 1);
            Hierarchy tree = Hierarchy.create(file, StandardCharsets.UTF_8, ';');
            data.getDefinition().setAttributeType(name, tree);
        }
        ARXConfiguration asked = ARXConfiguration.create();
        asked.addPrivacyModel(new KAnonymity((int) number(task, "k")));
        if (task.contains("\"distinct l\"")) {
            asked.addPrivacyModel(new DistinctLDiversity(sensitive, (int) number(task, "distinct l")));
        } else if (task.contains("\"frequency l\"")) {
            double c = 1 / (number(task, "frequency l") - 1);
            asked.addPrivacyModel(new RecursiveCLDiversity(sensitive, c, 2));
        } else if (task.contains("\"t\"")) {
            asked.addPrivacyModel(new EqualDistanceTCloseness(sensitive, number(task, "t")));
        }
        asked.setSuppressionLimit(0);
        asked.setQualityModel(Metric.createLossMetric(Metric.AggregateFunction.ARITHMETIC_MEAN));
        new ARXAnonymizer().anonymize(data, asked).getOutput(false).save(given[2], ',');
    }

    /** The texts in quotes of a list, of an object, or a single one. */
    private static List<String> texts(String task, String name) {
        Matcher place = find(task, name, "(\\[[^]]*\\]|\\{[^}]*\\}|\"[^\"]*\")");
        Matcher text = Pattern.compile("\"([^\"]*)\"").matcher(place.group(1));
        List<String> found = new ArrayList<>();
        while (text.find()) {
            found.add(text.group(1));
        }
        return found;
    }

    private static double number(String task, String name) {
        return Double.parseDouble(find(task, name, "([0-9.]+)").group(1));
    }

    private static Matcher find(String task, String name, String value) {
        Matcher place = Pattern.compile("\"" + name + "\": " + value).matcher(task);
        if (!place.find()) {
            throw new IllegalArgumentException("no " + name + " in the task");
        }
        return place;
    }
}
